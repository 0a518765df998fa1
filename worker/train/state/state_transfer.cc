#include "worker/train/state/state_transfer.h"

#include <string>
#include <utility>
#include <vector>

namespace rekindle::train {
namespace {

constexpr uint64_t kMaxLeverBytes = kMaxLeverValues * (kMaxLeverName + sizeof(uint32_t) + sizeof(double));

absl::Status ReceiveAndSwap(device::Device& device, device::Exchange& exchange, int peer, const ParameterLayout& layout,
                            bool has_state, const std::function<bool()>& may_swap, TrainState& state) {
  absl::StatusOr<TrainState> spare = has_state ? TrainState::Zero(device, layout, state.moments) : std::move(state);
  if (!spare.ok()) return spare.status();
  // The memory may have what an earlier transfer left there.
  spare->scalars = FirstScalars(layout);
  absl::Status status = ReceiveState(exchange, peer, layout, spare->moments, *spare);
  if (status.ok() && !may_swap()) {
    status = absl::AbortedError("the generation ended before its state was taken over");
  }
  // A rank without a state takes its memory back, but the memory does not count as a state.
  if (status.ok() || !has_state) state = *std::move(spare);
  return status;
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
  // The size of the scalars varies. Levers add their values to them over time, and once a parameter has missed a step,
  // each parameter has a count.
  const uint64_t least = EncodeScalars(spare.scalars).size();
  const uint64_t most = least + kMaxLeverBytes + layout.parameters.size() * sizeof(int64_t);
  uint64_t length = 0;
  if (absl::Status status = communicator.Recv(&length, sizeof(length), peer).Wait(); !status.ok()) return status;
  if (length < least || length > most) {
    absl::Status status =
        absl::InternalError("state from rank " + std::to_string(peer) + " has scalars of " + std::to_string(length) +
                            " bytes, this model's have " + std::to_string(least) + " to " + std::to_string(most));
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

std::vector<Delivery> DeliveriesOf(const Membership& membership) {
  // The first source is the one that the membership names.
  std::vector<int> sources = {membership.source_rank}, receivers;
  for (int rank = 0; rank < static_cast<int>(membership.members.size()); ++rank) {
    if (rank == membership.source_rank) continue;
    (membership.members[static_cast<size_t>(rank)].needs_state ? receivers : sources).push_back(rank);
  }
  std::vector<Delivery> deliveries;
  for (size_t i = 0; i < receivers.size(); ++i) deliveries.push_back({sources[i % sources.size()], receivers[i]});
  return deliveries;
}

absl::Status TransferState(device::Device& device, device::Exchange& exchange, const Membership& membership,
                           const ParameterLayout& layout, bool has_state, const std::function<bool()>& may_swap,
                           TrainState& state) {
  const int self = exchange.communicator().rank();
  for (const auto& [source, receiver] : DeliveriesOf(membership)) {
    absl::Status status;
    if (self == source) status = SendState(exchange, receiver, state, state.moments);
    if (self == receiver) status = ReceiveAndSwap(device, exchange, source, layout, has_state, may_swap, state);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::train
