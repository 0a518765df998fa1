// Builds this trainer's reports. It keeps the one rule that makes a report trustworthy: a rank is wholly at step s or
// wholly at s + 1. An interruption that is noticed while the optimizer writes is reported only when the optimizer has
// finished. After an interruption was reported, nothing is applied in that generation any more.
#ifndef REKINDLE_WORKER_TRAIN_CONTROL_REPORTER_H_
#define REKINDLE_WORKER_TRAIN_CONTROL_REPORTER_H_

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "worker/train/control/control_plane.h"

namespace rekindle::train {

// The class is thread-safe.
class Reporter {
 public:
  explicit Reporter(ControlPlane& control) : control_(control) {}

  // Changes any field and publishes the report. Pass `urgent` when the coordinator may have to decide on it.
  void Update(const std::function<void(Report&)>& change, bool urgent);
  Report Snapshot() const;

  // Enters `membership`. The phase becomes RUNNING, and no interruption is noted.
  void Enter(const Membership& membership);
  // Sets the micro-batches of the step. The rank promises to hold all of them.
  void Assign(const std::set<int>& micro_batches);
  void Computed(int count);

  // Reports that the rank waits at a step boundary, or that it steps again.
  void Stand(bool stands);

  // Reports that the communicator of `generation` ended with this error. A generation that was already left is ignored.
  void Interrupt(int generation, const Membership& membership, const absl::Status& error,
                 const std::vector<comm::Accusation>& accusations);

  // Sets the moments that the rank holds from now on, and clears `prepared`. Returns false if an interruption was
  // already reported with the moments held before.
  bool Hold(std::vector<int> blocks, int total_blocks);

  // Reports that the step is reduced and can be applied by this rank alone, where it holds the moments. Returns false
  // if the rank was interrupted. The step must then not be completed.
  bool Prepare();

  // Returns true if the caller may write the parameters. It must then call EndApply. Returns false if the rank was
  // interrupted, and the caller must not write.
  bool BeginApply();
  // Reports that the rank is wholly at `step` and promises the micro-batches `next` of it.
  void EndApply(int64_t step, int64_t attempt, const std::set<int>& next);

  // Leaves the generation in good order. It does nothing if the rank was interrupted before.
  void Leave(Phase phase, int64_t step);
  // Reports that the rank is not in the newer generation. It holds nothing that counts and may join again.
  void BecomeReady();

 private:
  void PublishInterruption() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ControlPlane& control_;
  mutable common::Mutex mutex_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  bool applying_ ABSL_GUARDED_BY(mutex_) = false;
  bool interrupted_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CONTROL_REPORTER_H_
