// What this trainer says of itself. Keeps the one rule that makes a report trustworthy: a rank is wholly at step s or
// wholly at s + 1. An interruption noticed while the optimizer writes is reported only when it has finished,
// and after an interruption was reported nothing is applied in that generation any more.
#ifndef REKINDLE_WORKER_TRAIN_REPORTER_H_
#define REKINDLE_WORKER_TRAIN_REPORTER_H_

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "worker/train/control_plane.h"

namespace rekindle::train {

// Thread-safe.
class Reporter {
 public:
  explicit Reporter(ControlPlane& control) : control_(control) {}

  // Changes any field and publishes; `urgent` when the coordinator may decide on it.
  void Update(const std::function<void(Report&)>& change, bool urgent);
  Report Snapshot() const;

  // Enters `membership`: phase RUNNING, nothing interrupted.
  void Enter(const Membership& membership);
  // The step's micro-batches, all of which this rank promises to hold.
  void Assign(const std::set<int>& micro_batches);
  void Computed(int count);

  // Stands still at a step boundary, or steps again.
  void Stand(bool stands);

  // The communicator of `generation` ended with this error. Of a generation already left: ignored.
  void Interrupt(int generation, const Membership& membership, const absl::Status& error,
                 const std::vector<comm::Accusation>& accusations);

  // The moments it holds from now on, for the report, and nothing is prepared any more. False: interrupted, and
  // reported with what it held before.
  bool Hold(std::vector<int> blocks, int total_blocks);

  // True: from now on the report says that the step, reduced and not applied, can be applied by itself where this rank
  // holds the moments. False: interrupted; the step must not be completed.
  bool Prepare();

  // True: the caller may write the parameters and must call EndApply. False: interrupted; it must not.
  bool BeginApply();
  // The rank is wholly at `step` and promises `next` micro-batches of it.
  void EndApply(int64_t step, int64_t attempt, const std::set<int>& next);

  // Leaves the generation in good order; nothing when it was interrupted before.
  void Leave(Phase phase, int64_t step);
  // Left out of a newer generation: holds nothing that counts, may join again.
  void BecomeReady();

 private:
  void PublishInterruption();  // REQUIRES: mutex_ held.

  ControlPlane& control_;
  mutable std::mutex mutex_;
  Report report_;
  bool applying_ = false;
  bool interrupted_ = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_REPORTER_H_
