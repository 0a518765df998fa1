// Live state from one member to those that need it, over the communicator of their generation.
#ifndef REKINDLE_WORKER_TRAIN_STATE_TRANSFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_TRANSFER_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "worker/comm/communicator.h"
#include "worker/train/control_plane.h"
#include "worker/train/state.h"

namespace rekindle::train {

// Weights, scalars and so many moments, to a rank that receives them; and there, into a state that has as many.
// Point to point: both must be called in one order on all ranks.
absl::Status SendState(comm::Communicator& communicator, int peer, const TrainState& state, int moments);
absl::Status ReceiveState(comm::Communicator& communicator, int peer, const ParameterLayout& layout, TrainState& spare);

// Waits for all of them, so that no buffer is in use afterwards; the first error.
absl::Status WaitAll(const std::vector<comm::Work>& works);

// Collective over the source and every member with needs_state; the others return at once. The source sends `state`;
// a receiver gets it in spare memory and swaps it into `state` only when all of it has arrived and `may_swap` agrees
// (else ABORTED), so an error leaves its old state whole.
// Precondition: membership.source is kRank; `state` has its buffers allocated.
absl::Status TransferState(comm::Communicator& communicator, const Membership& membership,
                           const ParameterLayout& layout, const std::function<bool()>& may_swap, TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_TRANSFER_H_
