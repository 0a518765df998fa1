// Ends a generation the moment the coordinator names a newer one or says to wait, also in the middle of an exchange:
// a rank that has heard of it completes no further step.
#ifndef REKINDLE_WORKER_TRAIN_GENERATION_WATCH_H_
#define REKINDLE_WORKER_TRAIN_GENERATION_WATCH_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "worker/train/control_plane.h"

namespace rekindle::train {

// OK: a rank of `generation` may go on. ABORTED: what the coordinator says instead.
absl::Status CheckGoesOn(const Directive& directive, int generation);

// One thread of its own, which waits for directives. Thread-safe.
class GenerationWatch {
 public:
  // `control` must outlive this.
  explicit GenerationWatch(const ControlPlane& control);
  ~GenerationWatch();

  // From now on, until Leave(): `end` is called once, with the reason, as soon as the generation must not go on; at
  // once where that is so already. It is called from this thread or the watch's own and must not call the watch.
  void Enter(int generation, std::function<void(const absl::Status& why)> end);
  // When this returns, `end` does not run and is not called any more.
  void Leave();

 private:
  void Run();
  void Look();  // REQUIRES: mutex_ held.

  const ControlPlane& control_;
  std::mutex mutex_;
  int generation_ = 0;
  std::function<void(const absl::Status&)> end_;  // Empty: none is entered, or it has been called.
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_GENERATION_WATCH_H_
