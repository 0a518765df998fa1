// The end of the job: the last evaluation and the final checkpoint, which may take several tries and another store.
#include <algorithm>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/log.h"
#include "worker/train/engine.h"

namespace rekindle::train {
namespace {

constexpr double kLookSeconds = 0.2;
// A holder of the final state that is told to hand it on waits so much longer for a save under way.
constexpr double kHandOnSeconds = 5;
// Together less than the ten seconds that its agent gives a trainer to stop.
constexpr double kEndDrainSeconds = 1, kEndAskSeconds = 2, kEndWriteSeconds = 3;

}  // namespace

absl::Status Engine::Finish(Generation& generation) {
  const Membership& membership = generation.membership;
  const bool anyone_new = std::any_of(membership.members.begin(), membership.members.end(),
                                      [](const Member& member) { return member.needs_state; });
  if (!membership.finishing || anyone_new) {  // Else all know it already.
    StepRecord evaluation;
    absl::Status status = Computed([&] {
      return steps_.Evaluate(state_.scalars, generation.ranges.of(generation.rank), generation.communicator,
                             &evaluation);
    });
    if (!status.ok()) return status;
    TellEvaluation(evaluation);
  }
  if (!membership.finishing) TellTimeSaved();
  if (checkpointer_ && options_.spec.checkpoint.kind != CheckpointSpec::Kind::kNever) {
    parts_.metrics.Update([](TrainerMetrics& m) { m.keeps_final_state = true; });
    if (absl::Status status = SaveFinal(generation); !status.ok()) return status;
  }
  if (absl::Status status = NoteFinal(generation); !status.ok()) return status;
  const absl::StatusOr<std::string> digest = placement_->Digest(generation.communicator, state_);
  if (!digest.ok()) return digest.status();
  generation.communicator.Close();
  reporter_.Update(
      [&](Report& r) {
        r.state_digest = *digest;
        r.stop_reason = stop_reason_;
        r.completed_step = state_.scalars.step;
      },
      false);
  reporter_.Leave(Phase::kFinished, state_.scalars.step);
  return absl::OkStatus();
}

// Collective. Until the final state is durable no member's machine may end by itself; rank 0 knows when it is.
absl::Status Engine::NoteFinal(Generation& generation) {
  const bool is_saved = checkpointer_ && options_.spec.checkpoint.kind != CheckpointSpec::Kind::kNever;
  const bool is_durable = reporter_.Snapshot().committed.step == state_.scalars.step;
  const uint8_t mine = !is_saved || is_durable;
  std::vector<uint8_t> all(static_cast<size_t>(generation.communicator.world_size()));
  if (absl::Status told = generation.communicator.AllGather(&mine, all.data(), 1).Wait(); !told.ok()) return told;
  const bool keeps = std::find(all.begin(), all.end(), 1) == all.end();
  parts_.metrics.Update([&](TrainerMetrics& m) { m.keeps_final_state = keeps; });
  return absl::OkStatus();
}

// Collective. That the store did not take it is told: the state stays until it has.
absl::Status Engine::SaveFinal(Generation& generation) {
  generation.communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
  const std::string& store = generation.membership.final_store;
  if (store.empty()) {
    saves_final_ = true;
    const absl::Status status = CheckpointNow(generation);
    saves_final_ = false;
    return status;
  }
  if (!UseFinalStore(store)) return absl::OkStatus();
  final_.checkpointer->Enter(generation_);
  std::swap(checkpointer_, final_.checkpointer);  // The other one may be needed again: it keeps its client.
  saves_final_ = true;
  const absl::Status status = CheckpointNow(generation);
  saves_final_ = false;
  std::swap(checkpointer_, final_.checkpointer);
  return status;
}

// False, on all ranks alike: it cannot be one, which is told.
bool Engine::UseFinalStore(const std::string& store) {
  if (final_.store == store) return true;
  final_.checkpointer.reset();  // Before its client.
  final_.client.reset();
  final_.store.clear();
  auto client = parts_.open_store ? parts_.open_store(store)
                                  : absl::FailedPreconditionError("this trainer has no store but its job's");
  if (!client.ok()) {
    log::Warning("cannot use the store", {{"store", store}, {"error", std::string(client.status().message())}});
    reporter_.Update([&](Report& r) { r.checkpoint_error = std::string(client.status().message()); }, true);
    return false;
  }
  final_.store = store;
  final_.client = *std::move(client);
  final_.checkpointer = std::make_unique<Checkpointer>(*final_.client, CheckpointerOptionsOf());
  return true;
}

// Whether all that was begun has ended. A final state whose holders must leave is handed on rather than lost with a
// store that hangs.
bool Engine::DrainFinal(double seconds) {
  double until = common::SteadySeconds() + seconds;
  bool told = false;
  for (;;) {
    const double left = until - common::SteadySeconds();
    if (checkpointer_->Drain(std::clamp(left, 0.0, saves_final_ ? kLookSeconds : seconds))) return true;
    if (left <= 0) return false;
    const Directive directive = parts_.control.Latest();
    const bool hands_on = saves_final_ && directive.action == Directive::Action::kYield && !directive.checkpoint;
    if (hands_on && !std::exchange(told, true)) until = std::min(until, common::SteadySeconds() + kHandOnSeconds);
    if (stopping_ || directive.action == Directive::Action::kExit) return false;
  }
}

// A job that is over must not be taken for one that goes on by whoever has nothing but its store. Where nobody answers,
// or the store is away, its file stays as it was with the newest checkpoint.
void Engine::KeepEnd() {
  if (!commits_ || parts_.checkpoints == nullptr) return;
  checkpointer_->Drain(kEndDrainSeconds);  // What it still writes would be older.
  const std::string text = parts_.control.JobFileOfEnd(kEndAskSeconds);
  if (text.empty()) return;
  for (checkpoint::CheckpointClient* client : {parts_.checkpoints, final_.client.get()}) {
    if (client == nullptr) continue;
    const absl::Status written = client->WriteJobFile(generation_, text, kEndWriteSeconds);
    if (written.ok()) continue;
    log::Warning("the job's store does not know that it is over", {{"error", std::string(written.message())}});
  }
}

}  // namespace rekindle::train
