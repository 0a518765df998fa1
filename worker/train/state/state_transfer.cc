#include "worker/train/state/state_transfer.h"

#include <string>
#include <utility>
#include <vector>

namespace rekindle::train {
namespace {

constexpr uint64_t kMaxLeverBytes = kMaxLeverValues * (kMaxLeverName + sizeof(uint32_t) + sizeof(double));

absl::Status ReceiveAndSwap(device::Device& device, device::Exchange& exchange, int peer, const ParameterLayout& layout,
                            const std::function<bool()>& may_swap, TrainState& state) {
  absl::StatusOr<TrainState> spare = TrainState::Zero(device, layout, state.moments);
  if (!spare.ok()) return spare.status();
  absl::Status status = ReceiveState(exchange, peer, layout, state.moments, *spare);
  if (!status.ok()) return status;
  if (!may_swap()) return absl::AbortedError("the generation ended before its state was taken over");
  std::swap(state, *spare);
  return absl::OkStatus();
}

}  // namespace

absl::Status SendState(device::Exchange& exchange, int peer, const TrainState& state, int moments) {
  const std::vector<uint8_t> scalars = EncodeScalars(state.scalars);
  const uint64_t length = scalars.size();
  comm::Communicator& communicator = exchange.communicator();
  absl::Status status = communicator.Send(&length, sizeof(length), peer).Wait();
  status.Update(communicator.Send(scalars.data(), scalars.size(), peer).Wait());
  if (!status.ok()) return status;
  exchange.Send(state.weights.all(), peer);
  for (const FloatBuffer* moment : MomentsOf(state, moments)) exchange.Send(moment->all(), peer);
  return exchange.WaitAll();
}

absl::Status ReceiveState(device::Exchange& exchange, int peer, const ParameterLayout& layout, int moments,
                          TrainState& spare) {
  comm::Communicator& communicator = exchange.communicator();
  // The size of the scalars varies, because levers add their values to them over time.
  const uint64_t least = EncodeScalars(spare.scalars).size();
  uint64_t length = 0;
  if (absl::Status status = communicator.Recv(&length, sizeof(length), peer).Wait(); !status.ok()) return status;
  if (length < least || length > least + kMaxLeverBytes) {
    absl::Status status =
        absl::InternalError("state from rank " + std::to_string(peer) + " has scalars of " + std::to_string(length) +
                            " bytes, this model's have " + std::to_string(least) + " and a little more");
    communicator.Abort(status);
    return status;
  }
  std::vector<uint8_t> scalars(length);
  absl::Status status = communicator.Recv(scalars.data(), scalars.size(), peer).Wait();
  if (!status.ok()) return status;
  exchange.Recv(spare.weights.all(), peer);
  for (const FloatBuffer* moment : MomentsOf(spare, moments)) exchange.Recv(moment->all(), peer);
  status = exchange.WaitAll();
  if (status.ok()) status = DecodeScalars(scalars, &spare.scalars);
  if (status.ok()) status = CheckFits(spare.scalars, layout);
  return status;
}

absl::Status TransferState(device::Device& device, device::Exchange& exchange, const Membership& membership,
                           const ParameterLayout& layout, const std::function<bool()>& may_swap, TrainState& state) {
  const comm::Communicator& communicator = exchange.communicator();
  const int self = communicator.rank();
  for (int rank = 0; rank < communicator.world_size(); ++rank) {
    if (!membership.members[static_cast<size_t>(rank)].needs_state || rank == membership.source_rank) continue;
    absl::Status status;
    if (self == membership.source_rank) status = SendState(exchange, rank, state, state.moments);
    if (self == rank) status = ReceiveAndSwap(device, exchange, membership.source_rank, layout, may_swap, state);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::train
