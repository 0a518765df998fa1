#include "worker/train/state/placement.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/check/check.h"
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
  WholePlacement(device::Device& device, const ParameterLayout& layout, int moments)
      : device_(device), layout_(layout), moments_(moments) {}

  absl::StatusOr<TrainState> Zero() const override { return TrainState::Zero(device_, layout_, moments_); }
  absl::Status MakeRoom(TrainState&) const override { return absl::OkStatus(); }
  absl::Status Enter(const Membership&, int) override { return absl::OkStatus(); }
  absl::Status Transfer(device::Exchange& exchange, const Membership& membership, bool has_state,
                        const std::function<bool()>& may_swap, TrainState& state) override {
    return TransferState(device_, exchange, membership, layout_, has_state, may_swap, state);
  }
  absl::Status Reserve() override { return absl::OkStatus(); }
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return nullptr; }
  void Replaced(bool) override {}
  absl::Status ReleaseUnwanted(device::Exchange&, TrainState&) override { return absl::OkStatus(); }
  absl::Status Prepare(std::optional<PlannedUpdate> update, const GradientBuffer*, device::Exchange&,
                       const TrainState&) override {
    update_ = std::move(update);
    return absl::OkStatus();
  }
  absl::Status Apply(TrainState& state) override {
    if (update_) device_.Run(device::Queue::kCompute, UpdateOf(layout_, *update_, {0, layout_.total}, state));
    return absl::OkStatus();
  }
  void Forget() override {}
  std::vector<checkpoint::ShardRange> Files(int world_size) const override {
    return checkpoint::CutShards(layout_.total, world_size);
  }
  absl::StatusOr<std::string> Digest(device::Exchange&, const TrainState& state) override {
    return StateDigest(device_, state);
  }
  std::optional<LeverNote> Saved(const TrainState&) const override { return std::nullopt; }

 private:
  device::Device& device_;
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
  ShardedPlacement(device::Device& device, const ParameterLayout& layout, int moments, Reporter& reporter);

  absl::StatusOr<TrainState> Zero() const override;
  absl::Status Reserve() override { return step_.Reserve(); }
  absl::Status MakeRoom(TrainState& state) const override;
  absl::Status Enter(const Membership& membership, int rank) override;
  absl::Status Transfer(device::Exchange& exchange, const Membership& membership, bool has_state,
                        const std::function<bool()>& may_swap, TrainState& state) override;
  const std::vector<checkpoint::ElementRange>* Wanted() const override { return &deal_.wanted; }
  void Replaced(bool whole) override;
  absl::Status ReleaseUnwanted(device::Exchange& exchange, TrainState& state) override;
  absl::Status Prepare(std::optional<PlannedUpdate> update, const GradientBuffer* reduced, device::Exchange& exchange,
                       const TrainState& state) override {
    return step_.Prepare(deal_, std::move(update), reduced, exchange, state);
  }
  absl::Status Apply(TrainState& state) override { return step_.Apply(deal_, held_, state); }
  void Forget() override { step_.Forget(); }
  std::vector<checkpoint::ShardRange> Files(int world_size) const override;
  absl::StatusOr<std::string> Digest(device::Exchange& exchange, const TrainState& state) override;
  std::optional<LeverNote> Saved(const TrainState& state) const override;

 private:
  void TakeOver(bool beside, int64_t target, TrainState& received, TrainState& state);

  device::Device& device_;
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

// Sends the weights and scalars to the ranks that need state. They arrive in `received`. The call is collective over
// sources and receivers, and the others return at once.
absl::Status SendWeights(device::Exchange& exchange, const Membership& membership, const ParameterLayout& layout,
                         const TrainState& state, TrainState& received) {
  const int self = exchange.communicator().rank();
  absl::Status status;
  for (const auto& [source, receiver] : DeliveriesOf(membership)) {
    if (self == source) status.Update(SendState(exchange, receiver, state, 0));
    if (self == receiver) status.Update(ReceiveState(exchange, source, layout, 0, received));
    if (!status.ok()) return status;
  }
  return status;
}

ShardedPlacement::ShardedPlacement(device::Device& device, const ParameterLayout& layout, int moments,
                                   Reporter& reporter)
    : device_(device), layout_(layout), moments_(moments), reporter_(reporter), step_(device, layout, reporter) {}

absl::StatusOr<TrainState> ShardedPlacement::Zero() const {
  absl::StatusOr<TrainState> state = TrainState::Zero(device_, layout_, moments_, /*in_parts=*/true);
  if (!state.ok()) return state;
  if (absl::Status status = MakeRoom(*state); !status.ok()) return status;
  return state;
}

absl::Status ShardedPlacement::MakeRoom(TrainState& state) const {
  for (FloatBuffer* moment : MomentsOf(state, moments_)) {
    for (const ElementRange& range : deal_.wanted) {
      if (absl::Status status = moment->Commit(range.begin, range.end); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

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

absl::Status ShardedPlacement::Transfer(device::Exchange& exchange, const Membership& membership, bool has_state,
                                        const std::function<bool()>& may_swap, TrainState& state) {
  MomentTransfer transfer(device_, exchange, deal_, step_, moments_, membership.step);
  if (absl::Status status = transfer.Plan(held_, state); !status.ok()) return status;
  const bool receives = membership.members[static_cast<size_t>(deal_.rank)].needs_state;
  // Moments are received into the state's own memory where this rank holds none. Moments that the rank holds of another
  // step must stay whole, so the new ones are then received beside them.
  const bool beside = receives && !held_.empty() && transfer.reached().empty();
  TrainState received;
  if (receives && !has_state) {
    received.weights = std::move(state.weights);
    received.scalars = FirstScalars(layout_);
  } else if (receives) {
    absl::StatusOr<TrainState> made = beside ? Zero() : TrainState::Zero(device_, layout_, 0);
    if (!made.ok()) return made.status();
    received = *std::move(made);
  }
  absl::Status status = beside ? absl::OkStatus() : MakeRoom(state);
  if (status.ok()) status = SendWeights(exchange, membership, layout_, state, received);
  if (status.ok()) status = transfer.MoveAll(state, beside ? received : state);
  if (status.ok() && receives && !may_swap()) {
    status = absl::AbortedError("the generation ended before its state was taken over");
  }
  if (!status.ok()) {
    if (receives && !has_state) state.weights = std::move(received.weights);
    return status;
  }
  if (receives) TakeOver(beside, membership.step, received, state);
  const ElementSet held = Union(transfer.reached(), deal_.wanted);
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
  std::swap(state.weights, received.weights);
  std::swap(state.scalars, received.scalars);
  step_.Forget();
}

// Frees only moments that no rank needs any more: the barrier shows that every rank has the moments that it wants.
// Before the rank frees moments, it withdraws the promise in its report to hold them.
absl::Status ShardedPlacement::ReleaseUnwanted(device::Exchange& exchange, TrainState& state) {
  if (absl::Status status = comm::Barrier(exchange.communicator()); !status.ok()) return status;
  if (!reporter_.Hold(ToBlocks(deal_.wanted), BlocksOf(layout_.total))) {
    return absl::AbortedError("interrupted before the optimizer's shards were settled");
  }
  step_.Forget();
  held_ = deal_.wanted;
  for (const ElementRange& range : Subtract({{0, layout_.total}}, held_)) {
    for (FloatBuffer* moments : MomentsOf(state, moments_)) moments->Release(range.begin, range.end);
  }
  return step_.Fit(deal_, exchange.communicator().world_size());
}

std::vector<checkpoint::ShardRange> ShardedPlacement::Files(int) const { return FilesOf(layout_.total, deal_.holders); }

// Computes the digest of the whole state on each rank. Each rank reads the whole state once, in order, one part at a
// time.
absl::StatusOr<std::string> ShardedPlacement::Digest(device::Exchange& exchange, const TrainState& state) {
  StateHasher hasher(device_);
  if (absl::Status status = hasher.Add(state.weights.all()); !status.ok()) return status;
  absl::StatusOr<FloatBuffer> received =
      FloatBuffer::Zeros(device_, std::min(kDigestElements, layout_.total), "what is hashed");
  if (!received.ok()) return received.status();
  for (const FloatBuffer* moments : {&state.first_moment, &state.second_moment}) {
    if (moments->size() == 0) {
      hasher.AddZeros(layout_.total);
      continue;
    }
    for (const StateShard& shard : deal_.shards) {
      for (const ElementRange& part : PartsOf(shard.range, kDigestElements)) {
        const bool is_own = shard.first == deal_.rank;
        const device::Range values = is_own ? moments->Part(part.begin, part.size()) : received->Part(0, part.size());
        absl::Status status = exchange.Wait(exchange.Broadcast(values, shard.first));
        if (status.ok()) status = hasher.Add(values);
        if (!status.ok()) return status;
      }
    }
  }
  return hasher.Finish(state.scalars);
}

std::optional<LeverNote> ShardedPlacement::Saved(const TrainState& state) const {
  const int64_t whole = layout_.total * static_cast<int64_t>(sizeof(float)) * moments_;
  int64_t taken = step_.bytes();
  for (const FloatBuffer* moments : MomentsOf(state, moments_)) taken += moments->bytes();
  const auto mib = [](int64_t bytes) { return std::to_string((bytes + (1 << 19)) >> 20) + " MiB"; };
  return LeverNote{.lever = "sharded_state",
                   .step = state.scalars.step,
                   .text = "the optimizer's state is in " + std::to_string(deal_.shards.size()) + " shards; rank " +
                           std::to_string(deal_.rank) + " spends " + mib(taken) +
                           " of memory on it, whole it would be " + mib(whole),
                   .bytes_saved = static_cast<double>(std::max<int64_t>(0, whole - taken))};
}

}  // namespace

std::unique_ptr<Placement> MakePlacement(device::Device& device, const TrainSpec& spec, const ParameterLayout& layout,
                                         Reporter& reporter) {
  const OptimizerKind* optimizer = FindOptimizer(spec.optimizer.kind);
  common::Check(optimizer != nullptr, "a state is placed for an optimizer that there is");
  const int moments = optimizer->moments;
  if (spec.sharded_state) return std::make_unique<ShardedPlacement>(device, layout, moments, reporter);
  return std::make_unique<WholePlacement>(device, layout, moments);
}

}  // namespace rekindle::train
