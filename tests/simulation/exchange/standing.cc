#include "tests/simulation/exchange/standing.h"

#include <set>
#include <string>
#include <utility>

namespace rekindle::core::simulation {
namespace {

constexpr double kAskSeconds = 0.3;

}  // namespace

void Standing::StandStill(SimJob& job, int generation, int step, std::function<void()> go_on) {
  Fabric& fabric = job.fabrics[generation];
  world_.journal.Count(Fault::kStoodStill);
  if (!world_.processes[fabric.membership.members(0).trainer()].lease->MaySpend())
    world_.journal.Count(Fault::kMaySpendNoMore);
  world_.journal.Note(std::to_string(generation) + " stands still at step " + std::to_string(step));
  for (const v1::Member& member : fabric.membership.members()) {
    world_.AtProcess(member.trainer(), 0, [this, generation](Process& p) {
      if (!In(p, generation)) return;
      voice_.Say(p, [](train::Reporter& r) { r.Stand(true); });
    });
  }
  saving_.Begin(world_.processes[fabric.membership.members(0).trainer()], generation, step);
  AskAgain(job, generation, std::move(go_on));
}

void Standing::AskAgain(SimJob& job, int generation, std::function<void()> go_on) {
  world_.After(kAskSeconds, [this, &job, generation, go_on = std::move(go_on)] {
    Fabric& fabric = job.fabrics[generation];
    bool holds = false;
    for (const v1::Member& member : fabric.membership.members()) {
      const Process& process = world_.processes[member.trainer()];
      if (!In(process, generation)) return EndStanding(fabric.membership);
      if (process.frozen_until > world_.now()) return AskAgain(job, generation, go_on);
      holds = holds || process.lease->Holds(generation);
      for (const v1::Member& other : fabric.membership.members()) {
        if (!world_.Reachable(member.node(), other.node())) return AskAgain(job, generation, go_on);
      }
    }
    if (!holds) return AskAgain(job, generation, go_on);
    for (const v1::Member& member : fabric.membership.members()) {
      Process& process = world_.processes[member.trainer()];
      process.said = world_.ClockOf(process);
      voice_.Say(process, [](train::Reporter& r) { r.Stand(false); });
    }
    world_.journal.Count(Fault::kWentOn);
    go_on();
  });
}

void Standing::EndStanding(const v1::Membership& membership) {
  for (const v1::Member& member : membership.members()) {
    world_.AtProcess(member.trainer(), kProgressDeadline, [this, membership](Process& p) {
      if (!In(p, membership.generation())) return;
      std::set<std::string> there;
      for (const v1::Member& other : membership.members()) {
        if (In(world_.processes[other.trainer()], membership.generation())) there.insert(other.trainer());
      }
      aborting_.AccuseMissing(p, there);
    });
  }
}

}  // namespace rekindle::core::simulation
