#include "checkpoint/format/framed_job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/format/manifest_release.h"
#include "checkpoint/testing/framed_job_file_testing.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(JobFileTextTest, ComesBackAsItWas) {
  const std::string text = JobFileOf("job");
  EXPECT_TRUE(CheckJobFile(text, "job").ok());
  EXPECT_EQ(DecodeJobFile(text, "job").value(), InnerOf("job"));
}

TEST(JobFileTextTest, AnyByteThatChangesIsFound) {
  const std::string text = JobFileOf("job");
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] ^= 1;
    EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(damaged, "job").status())) << at;
    EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(text.substr(0, at), "job").status())) << at;
    EXPECT_TRUE(absl::IsInvalidArgument(CheckJobFile(damaged, "job"))) << at;
  }
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(text + " ", "job").status()));
}

TEST(JobFileTextTest, SaysWhatIsWrongAndWhatToDo) {
  EXPECT_THAT(Message(DecodeJobFile(JobFileOf("another"), "job").status()),
              AllOf(HasSubstr("job.json of job job"), HasSubstr("'another'"), HasSubstr("next checkpoint")));
  for (const char* inner : {"[]", "{}", "7", R"({"format":0,"job_uid":"job"})", R"({"format":-1,"job_uid":"job"})",
                            R"({"format":"1","job_uid":"job"})", R"({"format":1,"job_uid":7})", R"({"format":1})",
                            R"({"format":4294967297,"job_uid":"job"})", R"({"format":1,"format":1,"job_uid":"job"})",
                            "{\"format\":1,\"job_uid\":\"job\",\"x\":\"\xff\"}"}) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(FrameJobFile(inner), "job").status())) << inner;
    EXPECT_TRUE(absl::IsInvalidArgument(CheckJobFile(FrameJobFile(inner), "job"))) << inner;
  }
}

TEST(JobFileTextTest, HasItsLimit) {
  const size_t frame = JobFileOf("job", R"("x":"")").size();
  const auto of_size = [&](size_t bytes) {
    return JobFileOf("job", R"("x":")" + std::string(bytes - frame, 'x') + '"');
  };
  const std::string most = of_size(kMaxJobFileBytes), more = of_size(kMaxJobFileBytes + 1);
  ASSERT_EQ(most.size(), kMaxJobFileBytes);
  EXPECT_TRUE(CheckJobFile(most, "job").ok());
  EXPECT_TRUE(DecodeJobFile(most, "job").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckJobFile(more, "job")));
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(more, "job").status()));
  const std::string deep = JobFileOf("job", R"("x":)" + std::string(10'000, '['));
  EXPECT_TRUE(absl::IsDataLoss(DecodeJobFile(deep, "job").status()));
}

TEST(JobFileTextTest, ANewerReleasesIsHandedOnAndNotRead) {
  const std::string text =
      FrameJobFile(R"({"format":2,"needs_release":"0.9.0","job_uid":"job","what":{"nobody":"knows"}})");
  EXPECT_TRUE(CheckJobFile(text, "job").ok()) << "an older checkpoint service may have to write it";
  const auto read = DecodeJobFile(text, "job");
  EXPECT_TRUE(absl::IsFailedPrecondition(read.status()) && IsOfNewerRelease(read.status())) << read.status();
  EXPECT_THAT(Message(read.status()), AllOf(HasSubstr("job.json of job job"), HasSubstr("release 0.9.0 or later")));
}

}  // namespace
}  // namespace rekindle::checkpoint
