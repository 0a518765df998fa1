#include "tests/simulation/exchange/stepping.h"

#include <algorithm>
#include <set>
#include <string>

#include "tests/simulation/exchange/assignment.h"
#include "tests/simulation/trainers/leases.h"

namespace rekindle::core::simulation {
namespace {

constexpr int kCheckpointEvery = 5;
constexpr double kApplySeconds = 0.02;

}  // namespace

void Stepping::Compute(Process& process) {
  const std::set<int> assigned = AssignedTo(process, process.report.step());
  // A micro-batch takes so little time that even one rank alone makes a step within the deadline.
  const double each = 0.02 * (1 + (process.node.back() % 3)) * 10 / std::max(10, process.job->options.micro_batches);
  voice_.Say(process, [&](train::Reporter& r) {
    r.Assign(assigned);
    r.Update(
        [&](train::Report& report) {
          report.micro_batch_seconds = each;
          report.step_seconds_p99 = 0.3;
          report.step_seconds = 0.15;
        },
        false);
  });
  const int generation = process.report.generation();
  world_.AtProcess(process.id, each * static_cast<double>(assigned.size()) * world_.chance.Uniform(0.8, 1.2),
                   [this, generation](Process& p) {
                     if (!In(p, generation)) return;
                     voice_.Say(p, [&](train::Reporter& r) { r.Computed(p.report.assigned_size()); });
                     Contribute(p);
                   });
}

void Stepping::Contribute(Process& process) {
  const int generation = process.report.generation(), step = process.report.step();
  Fabric& fabric = process.job->fabrics[generation];
  if (fabric.aborted.empty()) {
    fabric.contributed[process.id] = {step, AssignedTo(process, step)};
    fabric.holds[process.id] = process.lease->Holds(generation);
    process.said = world_.ClockOf(process);
  }
  world_.AtProcess(process.id, kProgressDeadline, [this, generation, step](Process& p) {
    if (In(p, generation) && p.job->fabrics[generation].reduced < step) GiveUpStep(p, generation, step);
  });
  if (!fabric.aborted.empty() || !AllContribute(fabric, generation, step)) return;
  if (nccl_.MayExchange(process)) Reduce(*process.job, generation, step);
}

bool Stepping::AllContribute(const Fabric& fabric, int generation, int step) {
  for (const v1::Member& a : fabric.membership.members()) {
    const auto it = fabric.contributed.find(a.trainer());
    const Process& peer = world_.processes[a.trainer()];
    if (it == fabric.contributed.end() || it->second.first != step || !In(peer, generation)) return false;
    if (peer.frozen_until > world_.now()) return false;
    for (const v1::Member& b : fabric.membership.members()) {
      if (!world_.Reachable(a.node(), b.node())) return false;
    }
  }
  return true;
}

void Stepping::GiveUpStep(Process& process, int generation, int step) {
  const Fabric& fabric = process.job->fabrics[generation];
  std::set<std::string> accused;
  for (const v1::Member& member : fabric.membership.members()) {
    const auto it = fabric.contributed.find(member.trainer());
    const bool missing = it == fabric.contributed.end() || it->second.first < step;
    if (missing || !world_.Reachable(process.node, member.node())) accused.insert(member.trainer());
  }
  if (!accused.empty() || fabric.membership.transport() != v1::TRANSPORT_NCCL) {
    return aborting_.Abort(process, comm::Accusation::Kind::kTimeout, accused);
  }
  // Everybody is there, so the process says that NCCL hangs in its generation.
  voice_.Say(process, [](train::Reporter& r) {
    r.Update([](train::Report& report) { report.device->nccl_failed = true; }, false);
  });
  aborting_.Abort(process, kAccusesNobody, {});
}

void Stepping::Reduce(SimJob& job, int generation, int step) {
  Fabric& fabric = job.fabrics[generation];
  fabric.reduced = step;
  Ending ending = Ending::kNone;
  for (const v1::Member& member : fabric.membership.members()) {
    ending = std::max(ending, world_.processes[member.trainer()].ending_seen);
  }
  const bool holds = std::any_of(fabric.holds.begin(), fabric.holds.end(), [](const auto& h) { return h.second; });
  // No step is applied any more once the job has made all its steps.
  if (!holds && step < job.options.steps) {
    return standing_.StandStill(job, generation, step,
                                [this, &job, generation, step, ending] { GoOn(job, generation, step, ending); });
  }
  GoOn(job, generation, step, ending);
}

void Stepping::GoOn(SimJob& job, int generation, int step, Ending ending) {
  Fabric& fabric = job.fabrics[generation];
  world_.Tell([&](Observer& observer) { observer.StepReduced(job, fabric, step); });
  MaybeRecut(world_, job, fabric, step);
  for (const v1::Member& member : fabric.membership.members()) {
    world_.AtProcess(member.trainer(), world_.chance.Uniform(0, 0.02), [this, generation, step, ending](Process& p) {
      if (!In(p, generation)) return;
      if (p.job->options.sharded && step < p.job->options.steps) return Prepare(p, generation, step, ending);
      Apply(p, generation, step, ending);
    });
  }
}

void Stepping::Prepare(Process& process, int generation, int step, Ending ending) {
  Fabric& fabric = process.job->fabrics[generation];
  bool prepared = false;
  voice_.Say(process, [&](train::Reporter& r) { prepared = r.Prepare(); });
  if (!prepared) return;
  fabric.prepared[step].insert(process.id);
  world_.AtProcess(process.id, kProgressDeadline, [this, generation, step](Process& p) {
    if (In(p, generation)) aborting_.AccuseMissing(p, FabricOf(p).prepared[step]);
  });
  if (static_cast<int>(fabric.prepared[step].size()) < fabric.membership.members_size()) return;
  for (const v1::Member& member : fabric.membership.members()) {
    world_.AtProcess(member.trainer(), world_.chance.Uniform(0, 0.02), [this, generation, step, ending](Process& p) {
      if (In(p, generation)) Apply(p, generation, step, ending);
    });
  }
}

void Stepping::Apply(Process& process, int generation, int step, Ending ending) {
  if (step < process.job->options.steps && !IsFresh(world_, process, generation))
    return aborting_.Abort(process, kAccusesNobody, {});
  if (step >= process.job->options.steps) {
    world_.Tell([&](Observer& observer) { observer.StepApplied(process, generation, step); });
    return leaving_.SaveAndStop(process, generation, train::Phase::kFinished);
  }
  voice_.Say(process, [&](train::Reporter& r) { process.applies = r.BeginApply(); });
  if (!process.applies) return;
  world_.Tell([&](Observer& observer) { observer.StepApplied(process, generation, step); });
  world_.AtProcess(process.id, world_.chance.Uniform(0, kApplySeconds),
                   [this, generation, step, ending](Process& p) { Applied(p, generation, step, ending); });
}

void Stepping::Applied(Process& process, int generation, int step, Ending ending) {
  Fabric& fabric = process.job->fabrics[generation];
  process.applies = false;
  const std::set<int> next = ending == Ending::kNone ? AssignedTo(process, step + 1) : std::set<int>();
  voice_.Say(process, [&](train::Reporter& r) {
    r.EndApply(step + 1, 0, next);
    // The reduction of a step shows that all ranks had applied the steps before.
    r.Update([&](train::Report& report) { report.completed_step = step; }, false);
  });
  fabric.applied[step + 1].insert(process.id);
  const bool whole = static_cast<int>(fabric.applied[step + 1].size()) == fabric.membership.members_size();
  if (whole) {
    process.job->completed = std::max(process.job->completed, step + 1);
  }
  if (!In(process, generation)) return aborting_.LeaveInterrupted(process);
  if (ending != Ending::kNone && step + 1 < process.job->options.steps) {
    if (ending == Ending::kSave) return leaving_.SaveAndStop(process, generation, train::Phase::kQuiesced);
    return leaving_.Stop(process, train::Phase::kQuiesced);
  }
  if (fabric.membership.members(0).trainer() == process.id && (step + 1) % kCheckpointEvery == 0) {
    saving_.Begin(process, generation, step + 1);
  }
  Compute(process);
}

}  // namespace rekindle::core::simulation
