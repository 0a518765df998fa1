#include "common/time/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/fake_clock.h"
#include "common/time/token_bucket.h"

namespace rekindle::common {
namespace {

using ::testing::HasSubstr;

TEST(BackoffTest, DoublesUpToTheLongestAndKeepsHalf) {
  const RetryPolicy policy{.first_seconds = 0.1, .longest_seconds = 1};
  EXPECT_DOUBLE_EQ(BackoffSeconds(policy, 1, 0), 0.05);
  EXPECT_DOUBLE_EQ(BackoffSeconds(policy, 3, 0.5), 0.3);
  EXPECT_DOUBLE_EQ(BackoffSeconds(policy, 1000, 0), 0.5);
}

TEST(RetryTest, UntilItSucceeds) {
  FakeClock clock;
  int calls = 0;
  EXPECT_TRUE(Retry({}, 10, clock.clock(), [&](Attempt&) {
                return ++calls < 3 ? absl::UnavailableError("503") : absl::OkStatus();
              }).ok());
  EXPECT_EQ(calls, 3);
}

TEST(RetryTest, EndsAtItsDeadlineWithTheLastError) {
  FakeClock clock;
  const double start = clock.Now();
  int calls = 0;
  const absl::Status status = Retry({}, 10, clock.clock(), [&](Attempt& attempt) {
    EXPECT_LE(attempt.seconds_left, 10);
    ++calls;
    return absl::ResourceExhaustedError("slow down");
  });
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("slow down (gave up after"));
  EXPECT_LE(clock.Now() - start, 10);
  EXPECT_GT(calls, 4);
  EXPECT_LT(calls, 15);
}

TEST(RetryTest, AnAttemptThatGotNoTimeHidesNoReason) {
  FakeClock clock;
  int calls = 0;
  const absl::Status status = Retry({}, 10, clock.clock(), [&](Attempt&) {
    return ++calls == 1 ? absl::ResourceExhaustedError("slow down") : absl::DeadlineExceededError("no answer");
  });
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
}

TEST(RetryTest, VerdictsAreNotTriedAgain) {
  FakeClock clock;
  for (const absl::Status& verdict : {absl::NotFoundError(""), absl::PermissionDeniedError(""),
                                      absl::InvalidArgumentError(""), Permanent(absl::UnavailableError("no bucket"))}) {
    int calls = 0;
    EXPECT_EQ(Retry({}, 10, clock.clock(), [&](Attempt&) { return ++calls, verdict; }).code(), verdict.code());
    EXPECT_EQ(calls, 1);
  }
}

TEST(RetryTest, WaitingOnPurposeDoesNotCount) {
  FakeClock clock;
  int calls = 0;
  EXPECT_TRUE(Retry({}, 1, clock.clock(), [&](Attempt& attempt) {
                clock.clock().sleep(100);
                attempt.extend = 100;
                return ++calls < 3 ? absl::UnavailableError("503") : absl::OkStatus();
              }).ok());
}

TEST(TokenBucketTest, KeepsTheRateOverAnyTime) {
  TokenBucket bucket(/*rate=*/10, /*burst=*/5);
  double now = 0, taken = 0;
  for (int i = 0; i < 100; ++i) {
    now += bucket.Take(3, now);
    taken += 3;
    EXPECT_LE(taken, 5 + 10 * now + 1e-9);
  }
  EXPECT_NEAR(now, (300 - 5) / 10.0, 1e-9);
  // However long nobody takes tokens, a bucket never saves up more than its burst.
  EXPECT_EQ(bucket.Take(5, now + 100), 0);
  EXPECT_NEAR(bucket.Take(1, now + 100), 0.1, 1e-9);
}

}  // namespace
}  // namespace rekindle::common
