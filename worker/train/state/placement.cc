#include "worker/train/state/placement.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/check/check.h"
#include "common/digest/hash.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/state/moment_transfer.h"
#include "worker/train/state/prepared_step.h"
#include "worker/train/state/shard_map.h"
#include "worker/train/state/state_transfer.h"

namespace rekindle::train {
namespace {

// To compute the digest, a rank receives what other ranks hold in pieces of at most `kDigestElements` elements.
constexpr int64_t kDigestElements = 1024 * 1024;

// Keeps the weights and the moments whole on every rank.
class WholePlacement final : public Placement {
 public:
  WholePlacement(const ParameterLayout& layout, int moments) : layout_(layout), moments_(moments) {}

  TrainState Zero() const override { return TrainState::Zero(layout_, moments_); }
  absl::Status Enter(const Membership&, int) override { return absl::OkStatus(); }
  absl::Status Transfer(comm::Communicator& communicator, const Membership& membership,
                        const std::function<bool()>& may_swap, TrainState& state) override {
    return TransferState(communicator, membership, layout_, may_swap, state);
  }
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return nullptr; }
  void Replaced(bool) override {}
  absl::Status ReleaseUnwanted(comm::Communicator&, TrainState&) override { return absl::OkStatus(); }
  absl::Status Prepare(std::optional<PlannedUpdate> update, GradientBuffer*, comm::Communicator&,
                       const TrainState&) override {
    update_ = std::move(update);
    return absl::OkStatus();
  }
  absl::Status Apply(TrainState& state) override {
    if (update_) UpdateElements(layout_, *update_, 0, layout_.total, FlatStateOf(state));
    return absl::OkStatus();
  }
  void Forget() override {}
  std::vector<checkpoint::ShardRange> Files(int world_size) const override {
    return checkpoint::CutShards(layout_.total, world_size);
  }
  absl::StatusOr<std::string> Digest(comm::Communicator&, TrainState& state) override { return StateDigest(state); }
  std::optional<LeverNote> Saved(const TrainState&) const override { return std::nullopt; }

 private:
  const ParameterLayout& layout_;
  // `moments_` is the number of moments that the optimizer keeps.
  const int moments_;
  std::optional<PlannedUpdate> update_;
};

// Keeps the optimizer's moments in shards, each on two ranks (ZeRO-1). The weights are whole on every rank. See
// docs/architecture.md. The class keeps track of what this rank holds and has to hold. PreparedStep makes the steps,
// and MomentTransfer moves the moments.
class ShardedPlacement final : public Placement {
 public:
  ShardedPlacement(const ParameterLayout& layout, int moments, Reporter& reporter);

  TrainState Zero() const override { return TrainState::Zero(layout_, moments_, /*in_parts=*/true); }
  absl::Status Enter(const Membership& membership, int rank) override;
  absl::Status Transfer(comm::Communicator& communicator, const Membership& membership,
                        const std::function<bool()>& may_swap, TrainState& state) override;
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return &deal_.wanted; }
  void Replaced(bool whole) override;
  absl::Status ReleaseUnwanted(comm::Communicator& communicator, TrainState& state) override;
  absl::Status Prepare(std::optional<PlannedUpdate> update, GradientBuffer* reduced, comm::Communicator& communicator,
                       const TrainState& state) override {
    return step_.Prepare(deal_, std::move(update), reduced, communicator, state);
  }
  absl::Status Apply(TrainState& state) override { return step_.Apply(deal_, held_, state); }
  void Forget() override { step_.Forget(); }
  std::vector<checkpoint::ShardRange> Files(int world_size) const override;
  absl::StatusOr<std::string> Digest(comm::Communicator& communicator, TrainState& state) override;
  std::optional<LeverNote> Saved(const TrainState& state) const override;

 private:
  void TakeOver(bool beside, int64_t target, TrainState& received, TrainState& state);

  const ParameterLayout& layout_;
  // `moments_` is the number of moments that the optimizer keeps.
  const int moments_;
  Reporter& reporter_;
  PreparedStep step_;
  // `deal_` says who holds which shards in the newest generation.
  ShardDeal deal_;
  // `held_` has the elements whose moments this rank holds now, at the state's step.
  ElementSet held_;
};

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
  // Moments are received into the state's own memory where this rank holds none. Moments that the rank holds of another
  // step must stay whole, so the new ones are then received beside them.
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

// Takes over the weights and scalars from the source. The moments have been received already, or follow from the
// prepared step.
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

// Frees only moments that no rank needs any more: the barrier shows that every rank has the moments that it wants.
// Before the rank frees moments, it withdraws the promise in its report to hold them.
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

// Computes the digest of the whole state on each rank. Each rank reads the whole state once, in order, one part at a
// time.
absl::StatusOr<std::string> ShardedPlacement::Digest(comm::Communicator& communicator, TrainState& state) {
  common::Hasher hasher;
  hasher.Update(state.weights.data(), static_cast<size_t>(state.weights.size()) * sizeof(float));
  FloatBuffer received(std::min(kDigestElements, layout_.total));
  int kept = 0;
  for (FloatBuffer* moments : {&state.first_moment, &state.second_moment}) {
    // Moments that the optimizer does not keep are zeros on every rank.
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

}  // namespace

std::unique_ptr<Placement> MakePlacement(const TrainSpec& spec, const ParameterLayout& layout, Reporter& reporter) {
  const OptimizerKind* optimizer = FindOptimizer(spec.optimizer.kind);
  common::Check(optimizer != nullptr, "a state is placed for an optimizer that there is");
  const int moments = optimizer->moments;
  if (spec.sharded_state) return std::make_unique<ShardedPlacement>(layout, moments, reporter);
  return std::make_unique<WholePlacement>(layout, moments);
}

}  // namespace rekindle::train
