// Ends a generation the moment the coordinator names a newer one or says to wait, even in the middle of an exchange. A
// rank that has heard of a newer generation completes no further step.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_WATCH_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_WATCH_H_

#include <atomic>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "worker/train/control/directive.h"
#include "worker/train/control/directive_box.h"

namespace rekindle::train {

// Returns OK if a rank of `generation` may go on. Otherwise returns ABORTED with what the coordinator says instead.
absl::Status CheckGoesOn(const Directive& directive, int generation);

// Ends generations from a thread of its own, which waits for directives. The class is thread-safe.
class GenerationWatch {
 public:
  // `directives` is the box that receives the coordinator's directives. It must outlive the GenerationWatch.
  explicit GenerationWatch(const DirectiveBox& directives);
  ~GenerationWatch();

  // Watches `generation` until Leave(). As soon as the generation must not go on, `end` is called once with the reason.
  // If the generation must already end when it is entered, `end` is called before Enter() returns. `end` runs on the
  // caller's thread or on that of the watch, and must not call the watch.
  void Enter(int generation, std::function<void(const absl::Status& why)> end);
  // Ends the watching. Waits until a running call of `end` has returned. After Leave() has returned, `end` is not
  // called any more.
  void Leave();

 private:
  void Run();
  void EndIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DirectiveBox& directives_;
  common::Mutex mutex_;
  int generation_ ABSL_GUARDED_BY(mutex_) = 0;
  // `end_` is the function that ends the watched generation. It is empty if no generation is watched or if it was
  // called.
  std::function<void(const absl::Status&)> end_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_WATCH_H_
