// Models the data plane: connecting, handing on state, stepping in lock step, and aborting.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr int kCheckpointEvery = 5;
constexpr double kApplySeconds = 0.02;

}  // namespace

bool SimCluster::Reachable(const std::string& a, const std::string& b) const {
  return blocked_.empty() || !blocked_.count({std::min(a, b), std::max(a, b)});
}

std::set<int> SimCluster::AssignedTo(const Process& process, int step) {
  const v1::Membership& membership = FabricOf(process).membership;
  const v1::Member& member = *FindMember(membership, process.id);
  std::set<int> assigned;
  if (step >= process.job->options.steps) return assigned;
  if (membership.interrupted() && step == membership.step()) {
    assigned.insert(member.holds().begin(), member.holds().end());
    assigned.insert(member.adds().begin(), member.adds().end());
  } else {
    int begin = member.begin(), end = member.end();
    const auto& cuts = FabricOf(process).cuts;
    if (auto cut = cuts.upper_bound(step); cut != cuts.begin()) {
      const std::vector<int>& ends = std::prev(cut)->second;
      begin = member.rank() == 0 ? 0 : ends[member.rank() - 1];
      end = ends[member.rank()];
    }
    for (int i = begin; i < end; ++i) assigned.insert(i);
  }
  return assigned;
}

// Sometimes changes the ranks' ranges of micro-batches. In the real trainer all ranks have the same measurements and
// therefore compute the same ranges. Here chance stands in for the measurements.
void SimCluster::MaybeRecut(const SimJob& job, Fabric& fabric, int step) {
  if (!chance_.Happens(0.2)) return;
  const int ranks = fabric.membership.members_size();
  std::set<int> ends = {job.options.micro_batches};
  while (static_cast<int>(ends.size()) < ranks) {
    ends.insert(1 + static_cast<int>(chance_.Uniform(0, job.options.micro_batches - 1)));
  }
  fabric.cuts[step + 1] = {ends.begin(), ends.end()};
}

void SimCluster::Connect(SimJob& job, int generation) {
  Fabric& fabric = job.fabrics[generation];
  if (fabric.connected || !fabric.aborted.empty()) return;
  for (const v1::Member& a : fabric.membership.members()) {
    const Process& process = processes_[a.trainer()];
    if (!In(process, generation) || process.frozen_until > queue_.now()) return;
    for (const v1::Member& b : fabric.membership.members()) {
      if (!Reachable(a.node(), b.node())) return;
    }
  }
  const bool by_nccl = fabric.membership.transport() == v1::TRANSPORT_NCCL;
  for (const v1::Member& member : fabric.membership.members()) {
    Process& process = processes_[member.trainer()];
    if (by_nccl && process.report.device().nccl_left()) return Abort(process, kAccusesNobody, {});
  }
  fabric.connected = true;
  for (const v1::Member& member : fabric.membership.members()) TakeState(processes_[member.trainer()]);
}

void SimCluster::TakeState(Process& process) {
  const int generation = process.report.generation();
  const v1::Membership& membership = FabricOf(process).membership;
  const v1::Member& self = *FindMember(membership, process.id);
  double delay = 0;
  if (membership.source().has_checkpoint() || self.needs_state()) delay = chance_.Uniform(0.02, 0.4);
  AtProcess(process.id, delay, [this, generation](Process& p) {
    if (!In(p, generation)) return;
    const Fabric& fabric = p.job->fabrics[generation];
    const v1::Membership& membership = fabric.membership;
    if (membership.source().has_checkpoint() && !CanRestore(p, membership.source().checkpoint())) {
      tally_.Count(Fault::kRestoreFailed);
      Say(p, [](train::Reporter& r) { r.Update([](train::Report& report) { report.has_state = false; }, false); });
      Abort(p, kAccusesNobody, {});
      return Find(p, membership.source().checkpoint(), true);
    }
    if (!membership.source().has_rank()) return HaveState(p, membership.step(), true);
    if (p.job->options.sharded) {
      std::set<std::string> others;
      for (const v1::Member& member : membership.members()) {
        // If the member has left, its closed connection will end the generation.
        if (!In(processes_[member.trainer()], generation)) return;
        others.insert(member.trainer());
      }
      if (!AreThere(others, membership.step())) {
        return Violate(absl::StrCat("generation ", generation, " has not all shards of step ", membership.step()));
      }
    }
    const Process& source = processes_[membership.members(membership.source().rank()).trainer()];
    if (source.id != p.id && FindMember(membership, p.id)->needs_state()) {
      // If the source of the state has left, its closed connection will end the generation.
      if (!In(source, generation)) return;
      return HaveState(p, source.report.step(), true);
    }
    if (p.report.step() != membership.step() || !p.report.has_state()) {
      return Violate(absl::StrCat(p.id, " stands at step ", p.report.step(), " but enters generation ", generation,
                                  " at step ", membership.step(), " without being given state"));
    }
    HaveState(p, p.report.step(), false);
  });
  AtProcess(process.id, delay + kProgressDeadline, [this, generation](Process& p) {
    const Fabric& fabric = p.job->fabrics[generation];
    if (!In(p, generation) || fabric.has_state.count(p.id)) return;
    const int rank = fabric.membership.source().rank();
    Abort(p, comm::Accusation::Kind::kTimeout, {fabric.membership.members(rank).trainer()});
  });
}

// Notes that the process has the state of `step`. `written` says that it did not have that state before.
void SimCluster::HaveState(Process& process, int step, bool written) {
  TakeShards(process, step);
  bool interrupted = false;
  const std::set<int> assigned = AssignedTo(process, step);
  Say(process, [&](train::Reporter& r) {
    if (!written) return r.Assign(assigned);
    interrupted = !r.BeginApply();
    if (!interrupted) r.EndApply(step, 0, assigned);
  });
  if (interrupted) return;
  const int generation = process.report.generation();
  Fabric& fabric = process.job->fabrics[generation];
  fabric.has_state.insert(process.id);
  if (!process.job->options.sharded) return Compute(process);
  AtProcess(process.id, kProgressDeadline, [this, generation](Process& p) {
    if (In(p, generation)) AccuseMissing(p, FabricOf(p).has_state);
  });
  if (static_cast<int>(fabric.has_state.size()) < fabric.membership.members_size()) return;
  // All ranks have their state now, so each of them leaves the barrier and computes.
  for (const std::string& id : std::set<std::string>(fabric.has_state)) {
    AtProcess(id, chance_.Uniform(0, 0.02), [this, generation](Process& p) {
      if (!In(p, generation)) return;
      ReleaseShards(p);
      Compute(p);
    });
  }
}

void SimCluster::Compute(Process& process) {
  const std::set<int> assigned = AssignedTo(process, process.report.step());
  // A micro-batch takes so little time that even one rank alone makes a step within the deadline.
  const double each = 0.02 * (1 + (process.node.back() % 3)) * 10 / std::max(10, process.job->options.micro_batches);
  Say(process, [&](train::Reporter& r) {
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
  AtProcess(process.id, each * static_cast<double>(assigned.size()) * chance_.Uniform(0.8, 1.2),
            [this, generation](Process& p) {
              if (!In(p, generation)) return;
              Say(p, [&](train::Reporter& r) { r.Computed(p.report.assigned_size()); });
              Contribute(p);
            });
}

void SimCluster::Contribute(Process& process) {
  const int generation = process.report.generation(), step = process.report.step();
  Fabric& fabric = process.job->fabrics[generation];
  if (fabric.aborted.empty()) {
    fabric.contributed[process.id] = {step, AssignedTo(process, step)};
    fabric.holds[process.id] = Holds(process, generation);
    process.said = ClockOf(process);
  }
  AtProcess(process.id, kProgressDeadline, [this, generation, step](Process& p) {
    Fabric& fabric = p.job->fabrics[generation];
    if (!In(p, generation) || fabric.reduced >= step) return;
    std::set<std::string> accused;
    for (const v1::Member& member : fabric.membership.members()) {
      const auto it = fabric.contributed.find(member.trainer());
      const bool missing = it == fabric.contributed.end() || it->second.first < step;
      if (missing || !Reachable(p.node, member.node())) accused.insert(member.trainer());
    }
    if (accused.empty() && fabric.membership.transport() == v1::TRANSPORT_NCCL) return EndByNccl(p);
    Abort(p, comm::Accusation::Kind::kTimeout, accused);
  });
  if (!fabric.aborted.empty()) return;
  for (const v1::Member& a : fabric.membership.members()) {
    const auto it = fabric.contributed.find(a.trainer());
    const Process& peer = processes_[a.trainer()];
    if (it == fabric.contributed.end() || it->second.first != step || !In(peer, generation)) return;
    if (peer.frozen_until > queue_.now()) return;
    for (const v1::Member& b : fabric.membership.members()) {
      if (!Reachable(a.node(), b.node())) return;
    }
  }
  if (MayExchange(process)) Reduce(*process.job, generation, step);
}

void SimCluster::Reduce(SimJob& job, int generation, int step) {
  Fabric& fabric = job.fabrics[generation];
  fabric.reduced = step;
  Ending ending = Ending::kNone;
  for (const v1::Member& member : fabric.membership.members()) {
    ending = std::max(ending, processes_[member.trainer()].ending_seen);
  }
  const bool holds = std::any_of(fabric.holds.begin(), fabric.holds.end(), [](const auto& h) { return h.second; });
  // No step is applied any more once the job has made all its steps.
  if (!holds && step < job.options.steps) return StandStill(job, generation, step, ending);
  GoOn(job, generation, step, ending);
}

void SimCluster::GoOn(SimJob& job, int generation, int step, Ending ending) {
  Fabric& fabric = job.fabrics[generation];
  CheckReduction(job, fabric, step);
  MaybeRecut(job, fabric, step);
  job.highest_reducing = std::max(job.highest_reducing, AgeOf(fabric.membership));
  for (const v1::Member& member : fabric.membership.members()) {
    AtProcess(member.trainer(), chance_.Uniform(0, 0.02), [this, generation, step, ending](Process& p) {
      if (!In(p, generation)) return;
      if (p.job->options.sharded && step < p.job->options.steps) return Prepare(p, generation, step, ending);
      Apply(p, generation, step, ending);
    });
  }
}

// Lets the process prepare the step. It is applied when all ranks have prepared it and none has left since, as far as
// each can tell.
void SimCluster::Prepare(Process& process, int generation, int step, Ending ending) {
  Fabric& fabric = process.job->fabrics[generation];
  bool prepared = false;
  Say(process, [&](train::Reporter& r) { prepared = r.Prepare(); });
  if (!prepared) return;
  fabric.prepared[step].insert(process.id);
  AtProcess(process.id, kProgressDeadline, [this, generation, step](Process& p) {
    if (In(p, generation)) AccuseMissing(p, FabricOf(p).prepared[step]);
  });
  if (static_cast<int>(fabric.prepared[step].size()) < fabric.membership.members_size()) return;
  for (const v1::Member& member : fabric.membership.members()) {
    AtProcess(member.trainer(), chance_.Uniform(0, 0.02), [this, generation, step, ending](Process& p) {
      if (In(p, generation)) Apply(p, generation, step, ending);
    });
  }
}

void SimCluster::Apply(Process& process, int generation, int step, Ending ending) {
  if (step < process.job->options.steps && !IsFresh(process, generation)) return Abort(process, kAccusesNobody, {});
  if (step >= process.job->options.steps) {
    CheckApplied(process, generation, step);
    return SaveAndStop(process, generation, train::Phase::kFinished);
  }
  Say(process, [&](train::Reporter& r) { process.applies = r.BeginApply(); });
  if (!process.applies) return;
  CheckApplied(process, generation, step);
  AtProcess(process.id, chance_.Uniform(0, kApplySeconds),
            [this, generation, step, ending](Process& p) { Applied(p, generation, step, ending); });
}

void SimCluster::Applied(Process& process, int generation, int step, Ending ending) {
  Fabric& fabric = process.job->fabrics[generation];
  process.applies = false;
  const std::set<int> next = ending == Ending::kNone ? AssignedTo(process, step + 1) : std::set<int>();
  Say(process, [&](train::Reporter& r) {
    r.EndApply(step + 1, 0, next);
    // The reduction of a step shows that all ranks had applied the steps before.
    r.Update([&](train::Report& report) { report.completed_step = step; }, false);
  });
  fabric.applied[step + 1].insert(process.id);
  const bool whole = static_cast<int>(fabric.applied[step + 1].size()) == fabric.membership.members_size();
  if (whole) {
    process.job->completed = std::max(process.job->completed, step + 1);
  }
  if (!In(process, generation)) return LeaveInterrupted(process);
  if (ending != Ending::kNone && step + 1 < process.job->options.steps) {
    if (ending == Ending::kSave) return SaveAndStop(process, generation, train::Phase::kQuiesced);
    return Stop(process, train::Phase::kQuiesced);
  }
  if (fabric.membership.members(0).trainer() == process.id && (step + 1) % kCheckpointEvery == 0) {
    BeginSave(process, generation, step + 1);
  }
  Compute(process);
}

}  // namespace rekindle::core::simulation
