// These tests run price sources side by side. Some of them fail, hang or ask for a pause.
#include "coordinator/fleet/providers/driving/price_watch.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

class FakeSource final : public PriceSource {
 public:
  absl::StatusOr<double> Ask(const std::string& pool) override {
    common::MutexLock lock(mutex_);
    ++asked_[pool];
    changed_.NotifyAll();
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !hangs_; });
    return says_;
  }
  void Say(absl::StatusOr<double> says, bool hangs = false) {
    const common::MutexLock lock(mutex_);
    says_ = std::move(says);
    hangs_ = hangs;
    changed_.NotifyAll();
  }
  bool AwaitAsked(const std::string& pool, int times) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(20),
                            [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return asked_[pool] >= times; });
  }
  int asked(const std::string& pool) {
    const common::MutexLock lock(mutex_);
    return asked_[pool];
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  absl::StatusOr<double> says_ ABSL_GUARDED_BY(mutex_) = 1.0;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, int> asked_ ABSL_GUARDED_BY(mutex_);
};

class PriceWatchTest : public testing::Test {
 protected:
  PriceWatch::Report Reports() {
    return [this](const core::PriceHeard& heard) {
      const common::MutexLock lock(mutex_);
      heard_[heard.pool] = heard.price;
      changed_.NotifyAll();
    };
  }
  bool Await(const std::string& pool, double price) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(20), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return heard_.count(pool) > 0 && heard_[pool] == price;
    });
  }
  bool Heard(const std::string& pool) {
    const common::MutexLock lock(mutex_);
    return heard_.count(pool) > 0;
  }

  const PriceWatchOptions fast_ = {
      .interval_seconds = 0.01, .gap_seconds = 0.001, .backoff = {.first_seconds = 0.01, .longest_seconds = 0.02}};
  common::Mutex mutex_;
  common::CondVar changed_;
  std::map<std::string, double> heard_ ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<FakeSource> a_ = std::make_shared<FakeSource>();
  const std::shared_ptr<FakeSource> b_ = std::make_shared<FakeSource>();
};

TEST(PriceWatch, AsksSeldomAndMoreSeldomWhereItIsRefused) {
  const PriceWatchOptions options;
  EXPECT_DOUBLE_EQ(NextAskSeconds(options, 0, std::nullopt, 0), 270);
  EXPECT_DOUBLE_EQ(NextAskSeconds(options, 0, std::nullopt, 0.5), 300);
  EXPECT_THAT(NextAskSeconds(options, 1, std::nullopt, 0.5), AllOf(Ge(30), Le(60)));
  EXPECT_THAT(NextAskSeconds(options, 50, std::nullopt, 0.5), AllOf(Ge(1800), Le(3600)));
  EXPECT_EQ(NextAskSeconds(options, 1, 600, 0.5), 600);
  EXPECT_THAT(NextAskSeconds(options, 1, 0, 0.5), AllOf(Ge(30), Le(60)));
}

TEST_F(PriceWatchTest, EveryPoolIsAskedForAgainAndAgain) {
  const PriceWatch watch({{"a", a_, {"a1", "a2"}}, {"none", b_, {}}}, Reports(), fast_);
  EXPECT_TRUE(Await("a1", 1));
  EXPECT_TRUE(Await("a2", 1));
  a_->Say(2.5);
  EXPECT_TRUE(Await("a1", 2.5));
  EXPECT_TRUE(Await("a2", 2.5));
}

TEST_F(PriceWatchTest, OneThatHangsHoldsUpNobodyElse) {
  a_->Say(1.0, /*hangs=*/true);
  const double begun = common::SteadySeconds();
  {
    const PriceWatch watch({{"a", a_, {"a"}}, {"b", b_, {"b"}}}, Reports(), fast_);
    EXPECT_TRUE(a_->AwaitAsked("a", 1));
    EXPECT_TRUE(Await("b", 1));
    EXPECT_TRUE(b_->AwaitAsked("b", 3));
    EXPECT_EQ(a_->asked("a"), 1);
    // A source that hangs does not delay the destructor of PriceWatch.
  }
  EXPECT_LT(common::SteadySeconds() - begun, 15);
  a_->Say(1.0);
  // A price that arrives after the PriceWatch was destroyed is not reported.
  EXPECT_FALSE(Heard("a"));
}

TEST_F(PriceWatchTest, ARefusalIsTriedAgainAndTellsNoPrice) {
  a_->Say(absl::PermissionDeniedError("ec2:DescribeSpotPriceHistory"));
  const PriceWatch watch({{"a", a_, {"a"}}}, Reports(), fast_);
  EXPECT_TRUE(a_->AwaitAsked("a", 3));
  EXPECT_FALSE(Heard("a"));
  a_->Say(3.0);
  EXPECT_TRUE(Await("a", 3));
}

TEST_F(PriceWatchTest, WhoAsksToComeBackLaterMeansTheWholeAccount) {
  a_->Say(Throttled("slow down", 3000));
  const PriceWatch watch({{"a", a_, {"a1", "a2"}}, {"b", b_, {"b"}}}, Reports(), fast_);
  EXPECT_TRUE(a_->AwaitAsked("a1", 1));
  EXPECT_TRUE(b_->AwaitAsked("b", 5));
  EXPECT_EQ(a_->asked("a1"), 1);
  EXPECT_EQ(a_->asked("a2"), 0);
}

}  // namespace
}  // namespace rekindle::fleet
