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

TEST(JobTextTest, EndedStates) {
  EXPECT_TRUE(Ended(v1::SUCCEEDED));
  EXPECT_TRUE(Ended(v1::FAILED));
  EXPECT_TRUE(Ended(v1::CANCELLED));
  EXPECT_FALSE(Ended(v1::RUNNING));
  EXPECT_FALSE(Ended(v1::PAUSED));
}

}  // namespace
}  // namespace rekindle::cli
