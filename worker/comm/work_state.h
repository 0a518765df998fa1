// The shared state behind a Work: set once by the communicator, waited for by anybody.
#ifndef REKINDLE_WORKER_COMM_WORK_STATE_H_
#define REKINDLE_WORKER_COMM_WORK_STATE_H_

#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "worker/comm/communicator.h"

namespace rekindle::comm {

// Thread-safe.
class Work::State {
 public:
  // The first call wins.
  void Finish(absl::Status status) {
    std::lock_guard lock(mutex_);
    if (done_) return;
    status_ = std::move(status);
    done_ = true;
    changed_.notify_all();
  }
  absl::Status Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
    return status_;
  }
  bool Done() {
    std::lock_guard lock(mutex_);
    return done_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  absl::Status status_;
};

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_WORK_STATE_H_
