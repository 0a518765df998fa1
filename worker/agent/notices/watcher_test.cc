// The watcher's threads: sources that speak, fail, hang and are acknowledged.
#include "worker/agent/notices/watcher.h"

#include <poll.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kPeriod = 0.01;

// Says what the test sets; may hang.
class FakeSource final : public Source {
 public:
  absl::StatusOr<std::vector<Notice>> Poll(double) override {
    std::unique_lock lock(mutex_);
    ++polls_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hangs_; });
    return says_;
  }
  absl::Status Acknowledge(const Notice& notice) override {
    std::lock_guard lock(mutex_);
    acknowledged_.push_back(notice.id);
    return absl::OkStatus();
  }

  void Say(absl::StatusOr<std::vector<Notice>> says, bool hangs = false) {
    std::lock_guard lock(mutex_);
    says_ = std::move(says);
    hangs_ = hangs;
    changed_.notify_all();
  }
  // Asked `n` times, all told.
  void AwaitPolls(int n) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return polls_ >= n; }));
  }
  std::vector<std::string> acknowledged() {
    std::lock_guard lock(mutex_);
    return acknowledged_;
  }
  int polls() {
    std::lock_guard lock(mutex_);
    return polls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  absl::StatusOr<std::vector<Notice>> says_ = std::vector<Notice>();
  bool hangs_ = false;
  int polls_ = 0;
  std::vector<std::string> acknowledged_;
};

Notice Leaving(const std::string& id, bool acknowledge = false) {
  return {.id = id, .what = id, .at = common::WallSeconds() + 100, .acknowledge = acknowledge};
}

class WatcherTest : public ::testing::Test {
 protected:
  // Until `holds`, looked at whenever the watcher wakes us.
  bool Await(const std::function<bool()>& holds) {
    const double until = common::SteadySeconds() + 20;
    while (!holds() && common::SteadySeconds() < until) {
      pollfd p = {.fd = waker_.fd(), .events = POLLIN, .revents = 0};
      poll(&p, 1, 1000);
      waker_.Clear();
    }
    return holds();
  }

  Waker waker_;
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
  std::mutex mutex;
  std::vector<std::pair<std::string, NoticeCounts>> counted;
  NoticeWatcher watcher({{"a", kPeriod, a_}, {"b", kPeriod, b_}}, &waker_,
                        [&](const std::string& source, const NoticeCounts& counts) {
                          const std::lock_guard lock(mutex);
                          counted.emplace_back(source, counts);
                        });
  a_->Say(std::vector<Notice>{Leaving("x")});
  EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
  a_->AwaitPolls(a_->polls() + 3);
  a_->Say(std::vector<Notice>());
  EXPECT_TRUE(Await([&] { return !watcher.verdict().leaves; }));
  const std::lock_guard lock(mutex);
  EXPECT_THAT(counted,
              ElementsAre(std::pair("a", NoticeCounts{.leaves = 1}), std::pair("a", NoticeCounts{.withdrawn = 1})));
}

TEST_F(WatcherTest, OneThatHangsKeepsNobodyAndIsAskedOnce) {
  a_->Say(std::vector<Notice>(), /*hangs=*/true);
  b_->Say(std::vector<Notice>{Leaving("x")});
  {
    const NoticeWatcher watcher({{"a", kPeriod, a_}, {"b", kPeriod, b_}}, &waker_);
    EXPECT_TRUE(Await([&] { return watcher.verdict().leaves; }));
    EXPECT_TRUE(Await([&] { return watcher.settled(); }));  // It was given up.
    b_->AwaitPolls(b_->polls() + 3);
    EXPECT_EQ(a_->polls(), 1);
  }  // Nor does it keep the end.
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
