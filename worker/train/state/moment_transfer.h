// Moves the optimizer's moments from the holders of one generation to those of the next. Each part comes from a rank
// that has it, and the work is spread evenly.
#ifndef REKINDLE_WORKER_TRAIN_STATE_MOMENT_TRANSFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_MOMENT_TRANSFER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/train/state/prepared_step.h"
#include "worker/train/state/shard_map.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Moves the moments at the beginning of one generation. The class is thread-compatible.
class MomentTransfer {
 public:
  // `target` is the step whose moments the ranks want. A rank that is one step behind makes them from its prepared
  // step. All arguments that are references must outlive the MomentTransfer.
  MomentTransfer(device::Device& device, device::Exchange& exchange, const ShardDeal& deal,
                 const PreparedStep& prepared, int moments, int64_t target);

  // Tells all ranks which moments this rank has, and plans the moves. `held` names its moments at the step of `state`,
  // and is empty if this rank has no state. The call is collective. Returns INTERNAL if the ranks together do not have
  // all moments.
  absl::Status Plan(const ElementSet& held, const TrainState& state);
  // Returns the moments of the wanted step that this rank has, or can make by itself.
  const ElementSet& reached() const { return reached_; }

  // Makes all moves: sends from `state`, and receives into `target`, which may be the same state and has memory for the
  // moments that this rank wants. Only receiving changes a state. The call is collective.
  absl::Status MoveAll(TrainState& state, TrainState& target);

 private:
  // Describes the moments that a rank has, as it tells the other ranks. If the rank has prepared a step, the moments of
  // `step` + 1 can be made from them.
  struct Holding {
    // `step` is the step of the rank's state, or -1 if the rank has no state.
    int64_t step = -1;
    bool prepared = false;
    ElementSet held;

    bool Reaches(int64_t target) const { return step == target || (prepared && step + 1 == target); }
  };

  absl::Status ShareHoldings(const ElementSet& held, const TrainState& state, std::vector<Holding>* all);
  absl::Status Send(const Move& move, const TrainState& state);
  absl::Status Receive(const Move& move, TrainState& state);

  device::Device& device_;
  device::Exchange& exchange_;
  const ShardDeal& deal_;
  const PreparedStep& prepared_;
  const int moments_;
  const int64_t target_;
  std::vector<Move> moves_;
  ElementSet reached_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_MOMENT_TRANSFER_H_
