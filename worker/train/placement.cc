#include "worker/train/placement.h"

#include <utility>

#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/sharded_placement.h"
#include "worker/train/state_transfer.h"

namespace rekindle::train {
namespace {

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
  absl::Status Settle(comm::Communicator&, TrainState&) override { return absl::OkStatus(); }
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
  const int moments_;  // That the optimizer keeps.
  std::optional<PlannedUpdate> update_;
};

}  // namespace

std::unique_ptr<Placement> MakePlacement(const TrainSpec& spec, const ParameterLayout& layout, Reporter& reporter) {
  const int moments = FindOptimizer(spec.optimizer.kind)->moments;
  if (spec.sharded_state) return std::make_unique<ShardedPlacement>(layout, moments, reporter);
  return std::make_unique<WholePlacement>(layout, moments);
}

}  // namespace rekindle::train
