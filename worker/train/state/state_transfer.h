// Transfers live state from one member to those that need it, over the exchange of their generation.
#ifndef REKINDLE_WORKER_TRAIN_STATE_STATE_TRANSFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_STATE_TRANSFER_H_

#include <functional>

#include "absl/status/status.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Sends and receives the weights, the scalars and `moments` moments. A receiver needs a state that has as many moments.
// The calls are point to point, and all ranks must make them in the same order.
absl::Status SendState(device::Exchange& exchange, int peer, const TrainState& state, int moments);
absl::Status ReceiveState(device::Exchange& exchange, int peer, const ParameterLayout& layout, int moments,
                          TrainState& spare);

// Transfers state from the source to every member with `needs_state`. The call is collective over these, and the others
// return at once. A receiver gets the state in spare memory and swaps it into `state` only when everything has arrived
// and `may_swap` agrees. Otherwise it returns ABORTED. An error therefore leaves its old state whole. REQUIRES:
// membership.source is kRank, and `state` has its buffers allocated on `device`.
absl::Status TransferState(device::Device& device, device::Exchange& exchange, const Membership& membership,
                           const ParameterLayout& layout, const std::function<bool()>& may_swap, TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_STATE_TRANSFER_H_
