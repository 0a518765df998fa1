// What the engine finds in the job's store, and takes back from it.
#include <string>
#include <utility>

#include "common/log.h"
#include "worker/train/engine.h"

namespace rekindle::train {
namespace {

constexpr double kStoreRetrySeconds = 0.5;

}  // namespace

// A trainer that cannot look into the job's store must not join: it might make the job start from scratch.
void Engine::AwaitStore() {
  if (!search_) return;
  for (;;) {
    const Directive directive = parts_.control.Latest();
    if (stopping_ || directive.action == Directive::Action::kExit || !directive.error.empty()) return;
    if (search_->FindNewest().ok()) return;
    if (directive.without_store) {
      reporter_.Update([](Report& r) { r.store_unseen = true; }, false);
      return;
    }
    parts_.control.WaitForChange(parts_.control.Version(), kStoreRetrySeconds);
  }
}

absl::Status Engine::RestoreCheckpoint(const Membership& membership) {
  if (parts_.checkpoints == nullptr) return absl::FailedPreconditionError("told to restore, but there is no store");
  // Into spare memory, but where there is nothing to lose: pages that are there already cost nothing.
  TrainState target = has_state_ ? placement_->Zero() : std::move(state_);
  const auto restored =
      parts_.checkpoints->Restore(membership.generation, membership.checkpoint,
                                  {target.weights.data(), target.first_moment.data(), target.second_moment.data(),
                                   target.weights.size(), placement_->Wanted()});
  absl::Status status =
      restored.ok() ? ScalarsFromJson(restored->manifest.scalars, &target.scalars) : restored.status();
  if (status.ok()) status = CheckFits(target.scalars, parts_.model.layout());
  if (status.ok() && restored->manifest.spec_digest != options_.spec_digest) {
    status = absl::FailedPreconditionError("checkpoint " + membership.checkpoint + " was made by another job spec");
  }
  if (status.ok()) target.DropUnused();
  const bool applies = status.ok() && reporter_.BeginApply();
  if (applies || !has_state_) {  // What is not applied is no state, and never taken for one.
    state_ = std::move(target);
    placement_->Replaced(applies);
  }
  if (!status.ok()) {
    // It was there when it was chosen: whoever looks closer can say whether it is damaged or away.
    log::Warning("could not restore",
                 {{"checkpoint", membership.checkpoint}, {"error", std::string(status.message())}});
    has_state_ = false;
    placement_->Replaced(false);
    reporter_.Update([](Report& r) { r.has_state = false; }, false);
    search_->Find(membership.checkpoint, /*verify=*/true);
    return absl::AbortedError(status.message());
  }
  if (!applies) return absl::AbortedError("interrupted before the state was restored");
  parts_.model.BindWeights(state_.weights.data());
  steps_.Forget();
  committed_step_ = state_.scalars.step;
  TellRestored(membership.checkpoint, *restored);
  parts_.timeline.Mark("restored", generation_, state_.scalars.step, static_cast<int>(membership.members.size()));
  return absl::OkStatus();
}

void Engine::TellRestored(const std::string& name, const checkpoint::Restored& restored) {
  std::string text = "restored " + name + (restored.exact ? "" : " (16 bits a value)") + ": ";
  const char* separator = "";
  for (const auto& [tier, bytes] : restored.bytes_from) {
    text += separator + std::to_string(bytes) + " bytes from " + (tier == "peer" ? "peers' memory" : tier);
    separator = ", ";
  }
  log::Info(text);
  reporter_.Update([&](Report& r) { r.restored = text; }, false);
}

}  // namespace rekindle::train
