#include "tests/simulation/exchange/sim_leaving.h"

#include <string>

namespace rekindle::core::simulation {
namespace {

constexpr double kSaveDeadline = 4;
// While there are faults, the final checkpoint is written with the probability `kFinalIsTaken`.
constexpr double kFinalIsTaken = 0.5;

}  // namespace

void Leaving::SaveAndStop(Process& process, int generation, train::Phase phase) {
  const std::string first = FabricOf(process).membership.members(0).trainer();
  if (process.id != first) {
    return world_.AtProcess(process.id, kSaveDeadline, [this, generation, first](Process& p) {
      if (In(p, generation)) aborting_.Abort(p, comm::Accusation::Kind::kTimeout, {first});
    });
  }
  world_.AtProcess(process.id, world_.chance.Uniform(0.05, 0.5), [this, generation, phase](Process& p) {
    if (!In(p, generation)) return;
    if (phase != train::Phase::kFinished || !world_.chaos || world_.chance.Happens(kFinalIsTaken)) {
      saving_.Commit(p, generation, p.report.step());
    }
    for (const v1::Member& member : FabricOf(p).membership.members()) {
      world_.AtProcess(member.trainer(), world_.chance.Uniform(0, 0.02), [this, generation, phase](Process& m) {
        if (In(m, generation)) Stop(m, phase);
      });
    }
  });
}

void Leaving::Stop(Process& process, train::Phase phase) {
  voice_.Say(process, [&](train::Reporter& r) {
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
