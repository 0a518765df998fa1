// Live state from one member to those that need it, over the communicator of their generation.
#ifndef REKINDLE_WORKER_TRAIN_STATE_TRANSFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_TRANSFER_H_

#include <functional>

#include "absl/status/status.h"
#include "worker/comm/communicator.h"
#include "worker/train/control_plane.h"
#include "worker/train/state.h"

namespace rekindle::train {

// Collective over the source and every member with needs_state; the others return at once. The source sends `state`;
// a receiver gets it in spare memory and swaps it into `state` only when all of it has arrived and `may_swap` agrees
// (else ABORTED), so an error leaves its old state whole.
// Precondition: membership.source is kRank; `state` has its buffers allocated.
absl::Status TransferState(comm::Communicator& communicator, const Membership& membership,
                           const ParameterLayout& layout, const std::function<bool()>& may_swap, TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_TRANSFER_H_
