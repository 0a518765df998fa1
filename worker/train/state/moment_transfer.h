// Moves the optimizer's moments from the holders of one generation to those of the next. Each part comes from a rank
// that has it, and the work is spread evenly.
#ifndef REKINDLE_WORKER_TRAIN_STATE_MOMENT_TRANSFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_MOMENT_TRANSFER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/train/state/prepared_step.h"
#include "worker/train/state/shard_map.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Returns the moments of `state` that the optimizer keeps.
std::vector<FloatBuffer*> MomentsOf(TrainState& state, int moments);

// Serves the transfer at the beginning of one generation. The class is thread-compatible.
class MomentTransfer {
 public:
  // The moments are wanted at step `target`. A rank one step behind makes them from its prepared step. The references
  // must outlive the transfer.
  MomentTransfer(comm::Communicator& communicator, const ShardDeal& deal, const PreparedStep& prepared, int moments,
                 int64_t target);

  // Tells all ranks what this rank has, and plans the moves. `held` belongs to the step of `state`, and is empty if
  // this rank has no state. The call is collective. Returns INTERNAL if the ranks together do not have everything.
  absl::Status Plan(const ElementSet& held, const TrainState& state);
  // Returns what this rank has, or can make by itself, at the wanted step.
  const ElementSet& reached() const { return reached_; }

  // Sends from `state`, and receives into `target`, which may be the same. `state` itself is not changed otherwise. The
  // call is collective.
  absl::Status MoveAll(TrainState& state, TrainState& target);

 private:
  // Describes what a rank has, as it reports it to the others. Moments of `step` + 1 can be made from it if the rank
  // has prepared that step.
  struct Holding {
    // `step` is -1 if the rank has no state.
    int64_t step = -1;
    bool prepared = false;
    ElementSet held;

    bool Reaches(int64_t target) const { return step == target || (prepared && step + 1 == target); }
  };

  absl::Status ShareHoldings(const ElementSet& held, const TrainState& state, std::vector<Holding>* all);
  absl::Status Send(const Move& move, TrainState& state);
  absl::Status Receive(const Move& move, TrainState& state);

  comm::Communicator& communicator_;
  const ShardDeal& deal_;
  const PreparedStep& prepared_;
  const int moments_;
  const int64_t target_;
  std::vector<Move> moves_;
  ElementSet reached_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_MOMENT_TRANSFER_H_
