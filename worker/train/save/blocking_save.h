// Saves the state at the end of a generation, and waits until the save has ended: for a finished job, for a pause, or
// for a job that is about to lose all its nodes.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_BLOCKING_SAVE_H_
#define REKINDLE_WORKER_TRAIN_SAVE_BLOCKING_SAVE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/time/clock.h"
#include "worker/comm/contract/communicator.h"
#include "worker/train/control/directive_box.h"
#include "worker/train/control/reporter.h"
#include "worker/train/save/checkpointer.h"
#include "worker/train/save/flush_plan.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Names the parts of a trainer that a blocking save uses. All of them must outlive the save.
struct BlockingSaveParts {
  Checkpointer& checkpointer;
  comm::Communicator& communicator;
  Reporter& reporter;
  const DirectiveBox& directives;
  // `clock` returns the time in seconds.
  common::TimeSource clock;
  // `stopping` says whether this trainer was told to stop.
  std::function<bool()> stopping;
};

struct BlockingSaveOptions {
  // `exact` says that the job's result must be bit-exact.
  bool exact = false;
  // `most_shards` is the largest number of files that any rank writes for a checkpoint.
  int most_shards = 0;
  // `until` is the time, by `clock`, at which the nodes will be gone. It is 0 if no end was announced.
  double until = 0;
  // `is_final` says that the job is finished. If the holders of its final state must leave while a store hangs, they
  // wait only a short time for the save, so that the state can be handed on.
  bool is_final = false;
};

// BlockingSave is thread-compatible.
class BlockingSave {
 public:
  BlockingSave(BlockingSaveParts parts, const BlockingSaveOptions& options);

  // Saves as much of `state` as the time allows. `info` lists the files that this rank writes in a whole save. The call
  // is collective. A failure of the store is reported but not returned.
  absl::Status Run(SnapshotInfo info, const TrainState& state);

 private:
  absl::StatusOr<FlushDecision> Decide(const SnapshotInfo& info, const TrainState& state);
  absl::Status AwaitSaves();
  absl::Status Gather(int64_t step);
  bool Drain(double seconds);
  double WriteSeconds() const;

  const BlockingSaveParts parts_;
  const BlockingSaveOptions options_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_BLOCKING_SAVE_H_
