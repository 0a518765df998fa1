#include "worker/train/state/sharded_placement.h"

#include <algorithm>
#include <cstdint>

#include "common/digest/hash.h"
#include "worker/train/state/moment_transfer.h"
#include "worker/train/state/state_transfer.h"

namespace rekindle::train {
namespace {

// The digest reads this many elements of another rank at a time.
constexpr int64_t kDigestElements = 1024 * 1024;

// Sends the weights and scalars from the source of the membership to the ranks that need state. They arrive in
// `received`. The call is collective over these ranks, and the others return at once.
absl::Status SendWeights(comm::Communicator& communicator, const Membership& membership, const ParameterLayout& layout,
                         const TrainState& state, TrainState& received) {
  absl::Status status;
  for (int rank = 0; status.ok() && rank < communicator.world_size(); ++rank) {
    if (!membership.members[static_cast<size_t>(rank)].needs_state || rank == membership.source_rank) continue;
    if (communicator.rank() == membership.source_rank) status = SendState(communicator, rank, state, 0);
    if (communicator.rank() == rank) status = ReceiveState(communicator, membership.source_rank, layout, received);
  }
  return status;
}

}  // namespace

ShardedPlacement::ShardedPlacement(const ParameterLayout& layout, int moments, Reporter& reporter)
    : layout_(layout), moments_(moments), reporter_(reporter), step_(layout, moments, reporter) {}

absl::Status ShardedPlacement::Enter(const Membership& membership, int rank) {
  absl::StatusOr<ShardDeal> deal = DealOf(membership, rank, layout_.total);
  if (!deal.ok()) return deal.status();
  deal_ = *std::move(deal);
  return absl::OkStatus();
}

void ShardedPlacement::Replaced(bool whole) {
  step_.Forget();
  held_ = whole ? deal_.wanted : ElementSet();
  reporter_.Hold(ToBlocks(held_), BlocksOf(layout_.total));
}

absl::Status ShardedPlacement::Transfer(comm::Communicator& communicator, const Membership& membership,
                                        const std::function<bool()>& may_swap, TrainState& state) {
  MomentTransfer transfer(communicator, deal_, step_, moments_, membership.step);
  if (absl::Status status = transfer.Plan(held_, state); !status.ok()) return status;
  const bool receives = membership.members[static_cast<size_t>(deal_.rank)].needs_state;
  // Moments go into the state's own memory where it holds none. A state of another step must stay whole, so they are
  // then received beside it.
  const bool beside = receives && !held_.empty() && transfer.reached().empty();
  TrainState received = receives ? TrainState::Zero(layout_, 0) : TrainState();
  absl::Status status = SendWeights(communicator, membership, layout_, state, received);
  if (status.ok()) status = transfer.MoveAll(state, beside ? received : state);
  if (!status.ok()) return status;
  const ElementSet held = Union(transfer.reached(), deal_.wanted);
  if (receives) {
    if (!may_swap()) return absl::AbortedError("the generation ended before its state was taken over");
    TakeOver(beside, membership.step, received, state);
  }
  if (!reporter_.Hold(ToBlocks(held), BlocksOf(layout_.total))) {
    return absl::AbortedError("the generation ended before its state was taken over");
  }
  held_ = held;
  return absl::OkStatus();
}

// Takes the weights and scalars from the source. The moments are already there, or follow from the prepared step.
void ShardedPlacement::TakeOver(bool beside, int64_t target, TrainState& received, TrainState& state) {
  if (!beside && step_.exists() && state.scalars.step + 1 == target) step_.UpdateHeld(held_, state);
  if (beside) {
    std::swap(state.first_moment, received.first_moment);
    std::swap(state.second_moment, received.second_moment);
  }
  // The model's parameters are views of the weights' memory, so the weights are copied and not swapped.
  std::copy_n(received.weights.data(), received.weights.size(), state.weights.data());
  std::swap(state.scalars, received.scalars);
  step_.Forget();
}

// Gives back only what is no longer needed. The barrier shows that every rank has what it wants, and the report must
// not promise the rest.
absl::Status ShardedPlacement::ReleaseUnwanted(comm::Communicator& communicator, TrainState& state) {
  if (absl::Status status = comm::Barrier(communicator); !status.ok()) return status;
  if (!reporter_.Hold(ToBlocks(deal_.wanted), BlocksOf(layout_.total))) {
    return absl::AbortedError("interrupted before the optimizer's shards were settled");
  }
  step_.Forget();
  held_ = deal_.wanted;
  for (const ElementRange& range : Subtract({{0, layout_.total}}, held_)) {
    for (FloatBuffer* moments : MomentsOf(state, moments_)) moments->Release(range.begin, range.end);
  }
  step_.Fit(deal_, communicator.world_size());
  return absl::OkStatus();
}

std::vector<checkpoint::ShardRange> ShardedPlacement::Files(int) const { return FilesOf(layout_.total, deal_.holders); }

// Each rank reads the whole state once, in order, one part at a time.
absl::StatusOr<std::string> ShardedPlacement::Digest(comm::Communicator& communicator, TrainState& state) {
  common::Hasher hasher;
  hasher.Update(state.weights.data(), static_cast<size_t>(state.weights.size()) * sizeof(float));
  FloatBuffer received(std::min(kDigestElements, layout_.total));
  int kept = 0;
  for (FloatBuffer* moments : {&state.first_moment, &state.second_moment}) {
    // Moments that are not kept are zeros on every rank.
    const bool is_kept = kept++ < moments_;
    for (const StateShard& shard : deal_.shards) {
      for (const ElementRange& part : PartsOf(shard.range, kDigestElements)) {
        const size_t bytes = static_cast<size_t>(part.size()) * sizeof(float);
        float* values = is_kept && shard.first != deal_.rank ? received.data() : moments->data() + part.begin;
        if (is_kept) {
          absl::Status status = communicator.Broadcast(values, bytes, shard.first).Wait();
          if (!status.ok()) return status;
        }
        hasher.Update(values, bytes);
      }
    }
  }
  hasher.Update(&state.scalars.cursor, sizeof(state.scalars.cursor));
  return hasher.Hex();
}

std::optional<LeverNote> ShardedPlacement::Saved(const TrainState& state) const {
  const int64_t whole = layout_.total * static_cast<int64_t>(sizeof(float)) * moments_;
  int64_t taken = step_.bytes();
  for (const FloatBuffer* moments : {&state.first_moment, &state.second_moment}) taken += moments->ResidentBytes();
  const auto mib = [](int64_t bytes) { return std::to_string((bytes + (1 << 19)) >> 20) + " MiB"; };
  return LeverNote{.lever = "sharded_state",
                   .step = state.scalars.step,
                   .text = "the optimizer's state is in " + std::to_string(deal_.shards.size()) + " shards; rank " +
                           std::to_string(deal_.rank) + " spends " + mib(taken) +
                           " of memory on it, whole it would be " + mib(whole),
                   .bytes_saved = static_cast<double>(std::max<int64_t>(0, whole - taken))};
}

}  // namespace rekindle::train
