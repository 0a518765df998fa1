// The model of checkpoints being written, as worker/train/engine_{checkpoint,flush}.cc.
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kSaveDeadline = 4;
constexpr double kFinalIsTaken = 0.5;  // While there are faults.

}  // namespace

void World::BeginSave(Process& process, int generation, int step) {
  AtProcess(process.id, chance_.Uniform(0.05, 0.5),
            [this, generation, step](Process& p) { Commit(p, generation, step); });
}

void World::Commit(Process& process, int generation, int step) {
  v1::TrainerReport& report = process.report;
  if (!CanRead(process) || process.job->store_full_until > queue_.now()) {
    report.set_checkpoint_error("the store takes nothing");
    report.set_checkpoints_failed(report.checkpoints_failed() + 1);
    tally_.Count(Fault::kSaveFailed);
    return;
  }
  process.job->store.push_back({generation, step});
  report.clear_checkpoint_error();
  v1::Checkpointed& committed = *report.mutable_committed();
  committed.set_manifest(ManifestOf(generation, step));
  committed.set_generation(generation);
  committed.set_step(step);
}

// The generation's last: nobody leaves before rank 0 has written it, or given up.
void World::SaveAndStop(Process& process, int generation, v1::TrainerPhase phase) {
  const std::string first = FabricOf(process).membership.members(0).trainer();
  if (process.id != first) {
    return AtProcess(process.id, kSaveDeadline, [this, generation, first](Process& p) {
      if (In(p, generation)) Abort(p, v1::Accusation::TIMEOUT, {first});
    });
  }
  AtProcess(process.id, chance_.Uniform(0.05, 0.5), [this, generation, phase](Process& p) {
    if (!In(p, generation)) return;
    if (phase != v1::TRAINER_FINISHED || !lossy_ || chance_.Happens(kFinalIsTaken)) {
      Commit(p, generation, p.report.step());
    }
    for (const v1::Member& member : FabricOf(p).membership.members()) {
      AtProcess(member.trainer(), chance_.Uniform(0, 0.02), [this, generation, phase](Process& m) {
        if (In(m, generation)) Stop(m, phase);
      });
    }
  });
}

void World::Stop(Process& process, v1::TrainerPhase phase) {
  process.report.set_phase(phase);
  if (phase == v1::TRAINER_FINISHED) process.report.set_state_digest("digest");
  process.report.clear_assigned();
  Report(process);
}

}  // namespace rekindle::core::simulation
