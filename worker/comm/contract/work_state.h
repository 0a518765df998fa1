// Holds the shared state behind a Work. The communicator sets it once, and any thread may wait for it.
#ifndef REKINDLE_WORKER_COMM_CONTRACT_WORK_STATE_H_
#define REKINDLE_WORKER_COMM_CONTRACT_WORK_STATE_H_

#include <utility>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "worker/comm/contract/communicator.h"

namespace rekindle::comm {

// The class is thread-safe.
class Work::State {
 public:
  // Sets the status. Only the first call has an effect.
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

#endif  // REKINDLE_WORKER_COMM_CONTRACT_WORK_STATE_H_
