// Tests the threads that poll sources of interruption notices, with sources that answer, fail, hang and are
// acknowledged.
#include "worker/agent/notices/watcher.h"

#include <poll.h>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kPeriod = 0.01;

// Is a source of notices that answers what the test sets, and may hang.
class FakeSource final : public Source {
 public:
  absl::StatusOr<std::vector<Notice>> Poll(double) override {
    common::MutexLock lock(mutex_);
    ++polls_;
    changed_.NotifyAll();
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !hangs_; });
    return says_;
  }
  absl::Status Acknowledge(const Notice& notice) override {
    const common::MutexLock lock(mutex_);
    acknowledged_.push_back(notice.id);
    return absl::OkStatus();
  }

  void Say(absl::StatusOr<std::vector<Notice>> says, bool hangs = false) {
    const common::MutexLock lock(mutex_);
    says_ = std::move(says);
    hangs_ = hangs;
    changed_.NotifyAll();
  }
  // Waits until the source was polled `n` times in all.
  void AwaitPolls(int n) {
    common::MutexLock lock(mutex_);
    const auto is_there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return polls_ >= n; };
    ASSERT_TRUE(changed_.WaitFor(lock, std::chrono::seconds(20), is_there));
  }
  std::vector<std::string> acknowledged() {
    const common::MutexLock lock(mutex_);
    return acknowledged_;
  }
  int polls() {
    const common::MutexLock lock(mutex_);
    return polls_;
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  absl::StatusOr<std::vector<Notice>> says_ ABSL_GUARDED_BY(mutex_) = std::vector<Notice>();
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  int polls_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> acknowledged_ ABSL_GUARDED_BY(mutex_);
};

// Sums up the notices that a watcher counts.
class Counted {
 public:
  void Add(const std::string& source, const NoticeCounts& counts) {
    const common::MutexLock lock(mutex_);
    counted_.emplace_back(source, counts);
  }
  std::vector<std::pair<std::string, NoticeCounts>> counted() {
    const common::MutexLock lock(mutex_);
    return counted_;
  }

 private:
  common::Mutex mutex_;
  std::vector<std::pair<std::string, NoticeCounts>> counted_ ABSL_GUARDED_BY(mutex_);
};

Notice Leaving(const std::string& id, bool acknowledge = false) {
  return {.id = id, .what = id, .at = common::WallSeconds() + 100, .acknowledge = acknowledge};
}

class WatcherTest : public ::testing::Test {
 protected:
  // Waits until `holds` returns true, which is checked whenever the watcher wakes the test.
  bool Await(const std::function<bool()>& holds) {
    const double until = common::SteadySeconds() + 20;
    while (!holds() && common::SteadySeconds() < until) {
      pollfd p = {.fd = waker_.fd(), .events = POLLIN, .revents = 0};
      poll(&p, 1, 1000);
      waker_.Clear();
    }
    return holds();
  }

  common::Waker waker_;
  std::shared_ptr<FakeSource> a_ = std::make_shared<FakeSource>(), b_ = std::make_shared<FakeSource>();
};

TEST_F(WatcherTest, WithoutSourcesThereIsNothingToWaitFor) {
  const NoticeWatcher watcher({}, &waker_);
  EXPECT_TRUE(watcher.settled());
  EXPECT_EQ(watcher.verdict(), Verdict());
}

TEST_F(WatcherTest, ANoticeComesAndIsWithdrawnAndAnErrorWithdrawsNothing) {
  const NoticeWatcher watcher({{"a", kPeriod, a_}}, &waker_);
  EXPECT_TRUE(Await([&] { return watcher.settled(); }));
  EXPECT_FALSE(watcher.verdict().leaves);
  a_->Say(std::vector<Notice>{Leaving("x")});
  EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
  EXPECT_THAT(watcher.verdict().reason, HasSubstr("s notice from a: x"));
  a_->Say(absl::UnavailableError("HTTP status 500"));
  a_->AwaitPolls(a_->polls() + 2);
  EXPECT_TRUE(watcher.verdict().leaves);
  a_->Say(std::vector<Notice>());
  EXPECT_TRUE(Await([&] { return !watcher.verdict().leaves; }));
}

TEST_F(WatcherTest, WhatIsNewIsCountedOnce) {
  Counted counted;
  NoticeWatcher watcher({{"a", kPeriod, a_}, {"b", kPeriod, b_}}, &waker_,
                        [&](const std::string& source, const NoticeCounts& counts) { counted.Add(source, counts); });
  a_->Say(std::vector<Notice>{Leaving("x")});
  EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
  a_->AwaitPolls(a_->polls() + 3);
  a_->Say(std::vector<Notice>());
  EXPECT_TRUE(Await([&] { return !watcher.verdict().leaves; }));
  EXPECT_THAT(counted.counted(),
              ElementsAre(std::pair("a", NoticeCounts{.leaves = 1}), std::pair("a", NoticeCounts{.withdrawn = 1})));
}

TEST_F(WatcherTest, OneThatHangsKeepsNobodyAndIsAskedOnce) {
  a_->Say(std::vector<Notice>(), /*hangs=*/true);
  b_->Say(std::vector<Notice>{Leaving("x")});
  {
    const NoticeWatcher watcher({{"a", kPeriod, a_}, {"b", kPeriod, b_}}, &waker_);
    EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
    // The watcher has given up its wait for the source that hangs.
    EXPECT_TRUE(Await([&] { return watcher.settled(); }));
    b_->AwaitPolls(b_->polls() + 3);
    EXPECT_EQ(a_->polls(), 1);
    // The source that hangs does not delay the destructor.
  }
  a_->Say(std::vector<Notice>());
}

TEST_F(WatcherTest, OneThatHungIsHeardWhenItAnswers) {
  a_->Say(std::vector<Notice>(), /*hangs=*/true);
  const NoticeWatcher watcher({{"a", kPeriod, a_}}, &waker_);
  a_->AwaitPolls(1);
  a_->Say(std::vector<Notice>{Leaving("x")});
  EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
}

TEST_F(WatcherTest, WhatWaitsForItIsAcknowledgedAndNothingElse) {
  NoticeWatcher watcher({{"a", kPeriod, a_}, {"b", kPeriod, b_}}, &waker_);
  a_->Say(std::vector<Notice>{Leaving("mine", true), Leaving("shared")});
  EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
  EXPECT_THAT(a_->acknowledged(), IsEmpty());
  watcher.AcknowledgeAll();
  EXPECT_THAT(a_->acknowledged(), ElementsAre("mine"));
  EXPECT_THAT(b_->acknowledged(), IsEmpty());
}

TEST(Watcher, ASourceThatFailsIsAskedLessOften) {
  EXPECT_EQ(NextPollSeconds(5, 0), 5);
  EXPECT_EQ(NextPollSeconds(5, 1), 10);
  EXPECT_EQ(NextPollSeconds(5, 100), 30);
  EXPECT_EQ(NextPollSeconds(60, 3), 60);
}

}  // namespace
}  // namespace rekindle::agent
