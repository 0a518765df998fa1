// Models how checkpoints are written, following worker/train/save/{saver,blocking_save}.cc.
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kSaveDeadline = 4;
// While there are faults, the final checkpoint is written with the probability `kFinalIsTaken`.
constexpr double kFinalIsTaken = 0.5;

}  // namespace

void SimCluster::BeginSave(Process& process, int generation, int step) {
  AtProcess(process.id, chance_.Uniform(0.05, 0.5),
            [this, generation, step](Process& p) { Commit(p, generation, step); });
}

void SimCluster::Commit(Process& process, int generation, int step) {
  train::CheckpointName name;
  std::string error;
  if (!CanRead(process) || process.job->store_full_until > queue_.now()) {
    error = "the store takes nothing";
    tally_.Count(Fault::kSaveFailed);
  } else {
    process.job->store.push_back({generation, step});
    StoreFile(*process.job);
    name = {ManifestOf(generation, step), generation, step};
  }
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.checkpoint_error = error;
          report.checkpoints_failed += error.empty() ? 0 : 1;
          if (error.empty()) report.committed = name;
        },
        true);
  });
}

// Saves the last checkpoint of the generation. No rank leaves before rank 0 has written it or given up.
void SimCluster::SaveAndStop(Process& process, int generation, train::Phase phase) {
  const std::string first = FabricOf(process).membership.members(0).trainer();
  if (process.id != first) {
    return AtProcess(process.id, kSaveDeadline, [this, generation, first](Process& p) {
      if (In(p, generation)) Abort(p, comm::Accusation::Kind::kTimeout, {first});
    });
  }
  AtProcess(process.id, chance_.Uniform(0.05, 0.5), [this, generation, phase](Process& p) {
    if (!In(p, generation)) return;
    if (phase != train::Phase::kFinished || !lossy_ || chance_.Happens(kFinalIsTaken)) {
      Commit(p, generation, p.report.step());
    }
    for (const v1::Member& member : FabricOf(p).membership.members()) {
      AtProcess(member.trainer(), chance_.Uniform(0, 0.02), [this, generation, phase](Process& m) {
        if (In(m, generation)) Stop(m, phase);
      });
    }
  });
}

void SimCluster::Stop(Process& process, train::Phase phase) {
  Say(process, [&](train::Reporter& r) {
    if (phase == train::Phase::kFinished) {
      r.Update(
          [&](train::Report& report) {
            report.state_digest = "digest";
            report.completed_step = process.job->options.steps;
          },
          false);
    }
    r.Leave(phase, process.report.step());
  });
}

}  // namespace rekindle::core::simulation
