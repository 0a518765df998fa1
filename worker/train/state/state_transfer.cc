#include "worker/train/state/state_transfer.h"

#include <cstring>
#include <utility>
#include <vector>

namespace rekindle::train {
namespace {

constexpr uint64_t kMaxLeverBytes = kMaxLeverValues * (kMaxLeverName + sizeof(uint32_t) + sizeof(double));

size_t Bytes(const FloatBuffer& buffer) { return static_cast<size_t>(buffer.size()) * sizeof(float); }

// Returns the buffers that are sent beside the scalars. Moments that the optimizer does not keep are zeros on every
// rank and are not sent.
template <typename State>
auto Travelling(State& state, int moments) {
  std::vector buffers{&state.weights, &state.first_moment, &state.second_moment};
  buffers.resize(static_cast<size_t>(1 + moments));
  return buffers;
}

}  // namespace

absl::Status WaitAll(const std::vector<comm::Work>& works) {
  absl::Status first;
  for (const comm::Work& work : works) first.Update(work.Wait());
  return first;
}

absl::Status SendState(comm::Communicator& communicator, int peer, const TrainState& state, int moments) {
  const std::vector<uint8_t> scalars = EncodeScalars(state.scalars);
  const uint64_t length = scalars.size();
  std::vector<comm::Work> works{communicator.Send(&length, sizeof(length), peer),
                                communicator.Send(scalars.data(), scalars.size(), peer)};
  for (const FloatBuffer* buffer : Travelling(state, moments)) {
    works.push_back(communicator.Send(buffer->data(), Bytes(*buffer), peer));
  }
  return WaitAll(works);
}

absl::Status ReceiveState(comm::Communicator& communicator, int peer, const ParameterLayout& layout,
                          TrainState& spare) {
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
  std::vector<comm::Work> works{communicator.Recv(scalars.data(), scalars.size(), peer)};
  for (FloatBuffer* buffer : Travelling(spare, spare.moments)) {
    works.push_back(communicator.Recv(buffer->data(), Bytes(*buffer), peer));
  }
  absl::Status status = WaitAll(works);
  if (status.ok()) status = DecodeScalars(scalars, &spare.scalars);
  if (status.ok()) status = CheckFits(spare.scalars, layout);
  return status;
}

namespace {

absl::Status ReceiveAndSwap(comm::Communicator& communicator, int peer, const ParameterLayout& layout,
                            const std::function<bool()>& may_swap, TrainState& state) {
  TrainState spare = TrainState::Zero(layout, state.moments);
  if (absl::Status status = ReceiveState(communicator, peer, layout, spare); !status.ok()) return status;
  if (!may_swap()) return absl::AbortedError("the generation ended before its state was taken over");
  // The model's parameters are views of the weights' memory, so the weights are copied and the rest is swapped.
  std::memcpy(state.weights.data(), spare.weights.data(), Bytes(spare.weights));
  std::swap(state.first_moment, spare.first_moment);
  std::swap(state.second_moment, spare.second_moment);
  std::swap(state.scalars, spare.scalars);
  return absl::OkStatus();
}

}  // namespace

absl::Status TransferState(comm::Communicator& communicator, const Membership& membership,
                           const ParameterLayout& layout, const std::function<bool()>& may_swap, TrainState& state) {
  const int self = communicator.rank();
  for (int rank = 0; rank < communicator.world_size(); ++rank) {
    if (!membership.members[static_cast<size_t>(rank)].needs_state || rank == membership.source_rank) continue;
    absl::Status status;
    if (self == membership.source_rank) status = SendState(communicator, rank, state, state.moments);
    if (self == rank) status = ReceiveAndSwap(communicator, membership.source_rank, layout, may_swap, state);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rekindle::train
