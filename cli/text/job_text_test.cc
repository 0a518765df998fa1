#include "cli/text/job_text.h"

#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

TEST(JobTextTest, ModelsOfRowsAndImagesCountSamples) {
  v1::JobSpec spec;
  EXPECT_EQ(UnitOf(spec), "token");
  spec.mutable_data()->mutable_table();
  EXPECT_EQ(UnitOf(spec), "sample");
  spec.mutable_data()->clear_table();
  spec.mutable_data()->mutable_images();
  EXPECT_EQ(UnitOf(spec), "sample");
}

TEST(JobTextTest, OwnModelsCountSamples) {
  v1::JobSpec spec;
  spec.mutable_model()->set_python("train:task");
  EXPECT_EQ(UnitOf(spec), "sample");
}

TEST(JobTextTest, ATracebackIsShownLineByLineAndCannotWriteElsewhere) {
  v1::JobStatus status;
  EXPECT_EQ(TracebackText(status), "");
  status.set_traceback("  File \"train.py\", line 3, in loss\nValueError: \x1b[2Jodd\n");
  EXPECT_EQ(TracebackText(status),
            "  the lines of the job's own code:\n"
            "      File \"train.py\", line 3, in loss\n"
            "    ValueError: ?[2Jodd\n");
}

TEST(JobTextTest, EndedStates) {
  EXPECT_TRUE(Ended(v1::SUCCEEDED));
  EXPECT_TRUE(Ended(v1::FAILED));
  EXPECT_TRUE(Ended(v1::CANCELLED));
  EXPECT_FALSE(Ended(v1::RUNNING));
  EXPECT_FALSE(Ended(v1::PAUSED));
}

}  // namespace
}  // namespace rekindle::cli
