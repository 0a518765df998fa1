// Asks a trainer to stop, before its engine exists, while it runs and afterwards.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_STOP_REQUEST_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_STOP_REQUEST_H_

#include <functional>
#include <utility>

#include "common/sync/mutex.h"

namespace rekindle::train {

// StopRequest is thread-safe. It holds its lock while it calls the function of Follow(), so that the function is not
// called any more once Follow(nullptr) has returned.
class StopRequest {
 public:
  void Make() {
    const common::MutexLock lock(mutex_);
    made_ = true;
    if (follow_) follow_();
  }
  bool made() const {
    const common::MutexLock lock(mutex_);
    return made_;
  }
  // Makes each Make() call `follow`, and calls it now if the request was made already. `follow` must not call the
  // StopRequest. Null ends the following.
  void Follow(std::function<void()> follow) {
    const common::MutexLock lock(mutex_);
    follow_ = std::move(follow);
    if (made_ && follow_) follow_();
  }

 private:
  mutable common::Mutex mutex_;
  bool made_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> follow_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_STOP_REQUEST_H_
