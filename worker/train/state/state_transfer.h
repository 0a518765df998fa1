// Transfers live state from the members that have it to those that need it, over the exchange of their generation.
#ifndef REKINDLE_WORKER_TRAIN_STATE_STATE_TRANSFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_STATE_TRANSFER_H_

#include <functional>
#include <vector>

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

// Says which rank sends its state to which other.
struct Delivery {
  int source = 0;
  int receiver = 0;
};
// Returns from whom each member with `needs_state` gets its state, in the order of their ranks. All other members have
// it, and take turns as sources, so that several receivers are served at once. REQUIRES: membership.source is kRank.
std::vector<Delivery> DeliveriesOf(const Membership& membership);

// Transfers state to every member with `needs_state`. The call is collective over sources and receivers, and the others
// return at once. If `has_state` is set, a receiver gets the state in spare memory and swaps it into `state` only when
// everything has arrived and `may_swap` agrees. Otherwise it returns ABORTED. An error therefore leaves its old state
// whole. A receiver without a state gets it in the memory of `state`, because a device may have no room for two.
// REQUIRES: membership.source is kRank, and `state` has its buffers allocated on `device`.
absl::Status TransferState(device::Device& device, device::Exchange& exchange, const Membership& membership,
                           const ParameterLayout& layout, bool has_state, const std::function<bool()>& may_swap,
                           TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_STATE_TRANSFER_H_
