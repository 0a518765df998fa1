// Defines mutexes whose use clang checks: with -Wthread-safety it refuses a guarded field that is touched without its
// mutex. The attributes are those of absl/base/thread_annotations.h, and other compilers ignore them.
//
//   void Add(int n) {
//     const MutexLock lock(mutex_);
//     sum_ += n;
//     changed_.NotifyAll();
//   }
//   void WaitFor(int n) {
//     MutexLock lock(mutex_);
//     changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return sum_ >= n; });
//   }
//   Mutex mutex_;
//   CondVar changed_;
//   int sum_ ABSL_GUARDED_BY(mutex_) = 0;
//
// The implementation uses std::mutex and not absl::Mutex. The thread sanitizer follows std::mutex, but it knows of
// absl::Mutex only if absl itself was built with the sanitizer, and the distribution's absl is not.
#ifndef REKINDLE_COMMON_SYNC_MUTEX_H_
#define REKINDLE_COMMON_SYNC_MUTEX_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#include "absl/base/thread_annotations.h"

namespace rekindle::common {

// A `Mutex` is not recursive, and only a MutexLock locks it.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;

  std::mutex mutex_;
};

// Holds a mutex from its construction to its end. `Unlock` releases the mutex for a while, for a call that may block or
// call back. A lock belongs to one thread.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() ABSL_UNLOCK_FUNCTION() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // REQUIRES: The mutex is held.
  void Unlock() ABSL_UNLOCK_FUNCTION() { lock_.unlock(); }
  // REQUIRES: `Unlock` has released the mutex.
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { lock_.lock(); }

 private:
  friend class CondVar;

  std::unique_lock<std::mutex> lock_;
};

// Wakes threads that wait for a change of what a mutex guards. Each wait releases the mutex of `lock` meanwhile, and
// returns when `predicate` holds, which it calls with the mutex held. A predicate that reads guarded fields needs
// ABSL_EXCLUSIVE_LOCKS_REQUIRED, because clang looks at it apart from its caller.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

  template <typename Predicate>
  void Wait(MutexLock& lock, Predicate predicate) {
    changed_.wait(lock.lock_, std::move(predicate));
  }
  // The waits with a `stop` token return early once a stop is requested. They return whether the predicate holds.
  template <typename Predicate>
  bool Wait(MutexLock& lock, std::stop_token stop, Predicate predicate) {
    return changed_.wait(lock.lock_, std::move(stop), std::move(predicate));
  }
  template <typename Rep, typename Period, typename Predicate>
  bool WaitFor(MutexLock& lock, std::stop_token stop, std::chrono::duration<Rep, Period> time, Predicate predicate) {
    return changed_.wait_for(lock.lock_, std::move(stop), time, std::move(predicate));
  }
  // Waits with a time limit. Returns whether the predicate holds, which is false if the time is over before.
  template <typename Rep, typename Period, typename Predicate>
  bool WaitFor(MutexLock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) {
    return changed_.wait_for(lock.lock_, time, std::move(predicate));
  }
  template <typename Clock, typename Duration, typename Predicate>
  bool WaitUntil(MutexLock& lock, std::chrono::time_point<Clock, Duration> deadline, Predicate predicate) {
    return changed_.wait_until(lock.lock_, deadline, std::move(predicate));
  }

 private:
  std::condition_variable_any changed_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SYNC_MUTEX_H_
