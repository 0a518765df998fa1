// Holds Work, by which the caller of an operation waits for it, and the state that all copies of a Work share. The
// communicator sets the result in the state once, and any thread may wait for it.
#ifndef REKINDLE_WORKER_COMM_CONTRACT_WORK_H_
#define REKINDLE_WORKER_COMM_CONTRACT_WORK_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "common/sync/mutex.h"

namespace rekindle::comm {

// Stands for the completion of one operation. All copies refer to the same operation. The class is thread-safe.
class Work {
 public:
  class State;
  Work() = default;
  explicit Work(std::shared_ptr<State> state) : state_(std::move(state)) {}
  // Blocks until the operation has ended. Returns OK, or the error that ended the communicator.
  absl::Status Wait() const;
  bool Done() const;

 private:
  std::shared_ptr<State> state_;
};

// A Work::State is thread-safe.
class Work::State {
 public:
  // Sets the result of an operation. Only the first call has an effect.
  void Finish(absl::Status status) {
    const common::MutexLock lock(mutex_);
    if (done_) return;
    status_ = std::move(status);
    done_ = true;
    changed_.NotifyAll();
  }
  absl::Status Wait() {
    common::MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return done_; });
    return status_;
  }
  bool Done() {
    const common::MutexLock lock(mutex_);
    return done_;
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_CONTRACT_WORK_H_
