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

// Reporter is thread-safe.
class Reporter {
 public:
  explicit Reporter(ControlPlane& control) : control_(control) {}

  // Lets `change` set any field of the report, and publishes it. The caller must pass `urgent` when the coordinator may
  // have to decide on the change.
  void Update(const std::function<void(Report&)>& change, bool urgent);
  Report Snapshot() const;

  // Reports that the rank enters `membership`. The phase becomes RUNNING, and the report has no interruption any more.
  void Enter(const Membership& membership);
  // Sets the micro-batches that this rank computes in the running step. The rank promises to hold all of their
  // gradients, even if the generation is interrupted.
  void Assign(const std::set<int>& micro_batches);
  void Computed(int count);

  // Reports that the rank waits at a step boundary, or that it steps again.
  void Stand(bool stands);

  // Reports that the communicator of `generation` ended with `error`. The call does nothing if the rank has already
  // left that generation.
  void Interrupt(int generation, const Membership& membership, const absl::Status& error,
                 const std::vector<comm::Accusation>& accusations);

  // Sets the blocks of the optimizer's moments that the rank holds from now on. The report then no longer says that the
  // rank has prepared a step. Returns false if an interruption was already reported, because that report named the
  // blocks that the rank held then.
  bool Hold(std::vector<int> blocks, int total_blocks);

  // Reports that the step is reduced and that this rank alone can apply it to the moments that it holds. Returns false
  // if the rank was interrupted. The step must then not be completed.
  bool Prepare();

  // Returns true if the caller may write the parameters. The caller must then call EndApply() afterwards. Returns false
  // if the rank was interrupted, and the caller must not write.
  bool BeginApply();
  // Reports that the rank is wholly at `step` and promises to compute the micro-batches `next` of it.
  void EndApply(int64_t step, int64_t attempt, const std::set<int>& next);

  // Reports that the rank leaves the generation in good order. The call does nothing if the rank was interrupted
  // before.
  void Leave(Phase phase, int64_t step);
  // Reports that the rank is not a member of the newer generation, so it holds nothing that counts and may join again.
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
