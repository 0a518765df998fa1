// Tests what the record of a step is refused for.
#include "worker/train/step/record_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rekindle::train {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

ParameterLayout WithBuffers(int count) {
  ParameterLayout layout;
  layout.parameters.push_back({.name = "weight", .size = 1});
  layout.parameters.push_back({.name = "mean", .size = 1, .momentum = 1});
  for (int n = 0; n < count; ++n) {
    layout.parameters.push_back(
        {.name = "seen" + std::to_string(n), .size = 1, .momentum = 1, .rule = BufferRule::kFirst, .must_agree = true});
  }
  return layout;
}

std::string Refused(const StepRecord& record, int buffers) {
  const absl::Status status = CheckWholeBuffers(record, 4, WithBuffers(buffers));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(RecordChecksTest, WholeNumbersThatAgreeAreFine) {
  EXPECT_TRUE(CheckWholeBuffers({}, 4, WithBuffers(1)).ok());
  EXPECT_TRUE(CheckWholeBuffers({.least_whole = 7, .most_whole = 7}, 4, WithBuffers(1)).ok());
}

TEST(RecordChecksTest, ABufferOfWholeNumbersThatDiffersIsNamed) {
  const StepRecord record{.least_whole = 7, .most_whole = 8};
  EXPECT_THAT(Refused(record, 1), HasSubstr("step 5: the micro-batches give different values"));
  EXPECT_THAT(Refused(record, 1), EndsWith("no mean: seen0; set buffers={\"seen0\": \"first\"} or \"frozen\" for it "
                                           "in the Task"));
  EXPECT_THAT(Refused(record, 3), HasSubstr("no mean: one of seen0, seen1, seen2; set"));
  EXPECT_THAT(Refused(record, 10), HasSubstr("seen7 and 2 more; set"));
}

TEST(RecordChecksTest, ASampleThatDiffersIsNamed) {
  const absl::Status status = CheckSample({.least_checked = 1, .most_checked = 2}, 4, 33);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("step 5: data[33] was read twice"));
  EXPECT_TRUE(CheckSample({.least_checked = 2, .most_checked = 2}, 4, 33).ok());
}

}  // namespace
}  // namespace rekindle::train
