#include "common/sync/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace rekindle::common {
namespace {

class Counter {
 public:
  void Add(int n) {
    const MutexLock lock(mutex_);
    sum_ += n;
    changed_.NotifyAll();
  }
  void Await(int n) {
    MutexLock lock(mutex_);
    changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sum_ >= n; });
  }
  bool AwaitOrStop(int n, std::stop_token stop) {
    MutexLock lock(mutex_);
    return changed_.Wait(lock, std::move(stop), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sum_ >= n; });
  }
  bool AwaitFor(int n, std::chrono::milliseconds time) {
    MutexLock lock(mutex_);
    return changed_.WaitFor(lock, time, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sum_ >= n; });
  }
  bool AwaitUntil(int n, std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    return changed_.WaitUntil(lock, deadline, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sum_ >= n; });
  }
  bool AwaitForOrStop(int n, std::stop_token stop, std::chrono::milliseconds time) {
    MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::move(stop), time,
                            [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sum_ >= n; });
  }
  // Calls `work` while the mutex is released, and returns the value of `sum_` afterwards.
  template <typename Work>
  int SumAfter(const Work& work) {
    MutexLock lock(mutex_);
    lock.Unlock();
    work();
    lock.Lock();
    return sum_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int sum_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST(MutexTest, OneThreadAtATimeHoldsIt) {
  Counter counter;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) counter.Add(1);
    });
  }
  counter.Await(4000);
  EXPECT_FALSE(counter.AwaitFor(4001, std::chrono::milliseconds(0)));
}

TEST(MutexTest, IsFreeWhileItsLockIsGivenUp) {
  Counter counter;
  EXPECT_EQ(counter.SumAfter([&] { counter.Add(2); }), 2);
}

TEST(CondVarTest, WakesWhoWaits) {
  Counter counter;
  std::jthread adds([&] { counter.Add(1); });
  counter.Await(1);
  EXPECT_TRUE(counter.AwaitUntil(1, std::chrono::steady_clock::now() - std::chrono::hours(1))) << "it holds already";
}

TEST(CondVarTest, AWaitEndsWhenItsTimeIsOver) {
  Counter counter;
  EXPECT_FALSE(counter.AwaitFor(1, std::chrono::milliseconds(1)));
  EXPECT_FALSE(counter.AwaitUntil(1, std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
  EXPECT_FALSE(counter.AwaitForOrStop(1, std::stop_token(), std::chrono::milliseconds(1)));
}

TEST(CondVarTest, AStopEndsAWaitThatNobodyNotifies) {
  Counter counter;
  std::stop_source stop;
  std::jthread stops([&] { stop.request_stop(); });
  EXPECT_FALSE(counter.AwaitOrStop(1, stop.get_token()));
  EXPECT_FALSE(counter.AwaitForOrStop(1, stop.get_token(), std::chrono::hours(1)));
  counter.Add(1);
  EXPECT_TRUE(counter.AwaitOrStop(1, stop.get_token())) << "what holds is told, stopped or not";
}

}  // namespace
}  // namespace rekindle::common
