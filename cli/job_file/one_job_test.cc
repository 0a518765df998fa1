#include "cli/job_file/one_job.h"

#include <gtest/gtest.h>

#include <string>

#include "cli/testing/job_documents_testing.h"

namespace rekindle::cli {
namespace {

using OneJobTest = JobDocumentsFixture;

TEST_F(OneJobTest, WhoTakesOneJobSaysWhereTheSecondBegins) {
  EXPECT_EQ(ReadOneJob(Write(Good("a")))->name(), "a");
  EXPECT_EQ(std::string(ReadOneJob(Write(Good("a") + "---\n" + Good("b"))).status().message()),
            folder_ + "/job.yaml:5: a second job begins; one is wanted here: give it a file of its own");
  EXPECT_EQ(std::string(ReadOneJob(Write("name: a\nspce: 5\n")).status().message()),
            folder_ + "/job.yaml:2: `spce` is not a field; did you mean `spec`?");
}

}  // namespace
}  // namespace rekindle::cli
