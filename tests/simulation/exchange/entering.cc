#include "tests/simulation/exchange/entering.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/exchange/assignment.h"
#include "tests/simulation/trainers/store_view.h"

namespace rekindle::core::simulation {

void Entering::Enter(Process& process, const v1::Membership& membership) {
  if (process.aborts_until > world_.now()) {
    // The process obeys when it has given the abort of NCCL up.
    return world_.AtProcess(process.id, process.aborts_until - world_.now(), [this](Process& p) { obey_(p); });
  }
  Fabric& fabric = FabricFor(process, membership);
  process.ending_seen = EndingIn(process.directive);
  fabric.entered.insert(process.id);
  voice_.Say(process, [&](train::Reporter& r) {
    r.Update(
        [](train::Report& report) {
          if (report.device) report.device->nccl_failed = false;
        },
        false);
    r.Enter(fabric.plain);
  });
  const int generation = membership.generation();
  if (!fabric.aborted.empty()) {
    const std::set<std::string> accused = {*fabric.aborted.begin()};
    world_.AtProcess(process.id, 0.005, [this, generation, accused](Process& p) {
      if (p.report.generation() == generation) aborting_.Abort(p, comm::Accusation::Kind::kClosed, accused);
    });
    return;
  }
  // The ranks of a generation have 1.5 s to connect to each other.
  world_.AtProcess(process.id, 1.5, [this, generation](Process& p) {
    Fabric& fabric = p.job->fabrics[generation];
    if (fabric.connected || p.report.generation() != generation) return;
    std::set<std::string> accused;
    for (const v1::Member& member : fabric.membership.members()) {
      if (!fabric.entered.count(member.trainer()) || !world_.Reachable(p.node, member.node()))
        accused.insert(member.trainer());
    }
    aborting_.Abort(p, comm::Accusation::Kind::kUnreachable, accused);
  });
  world_.After(0.005, [this, job = process.job, generation] { Connect(*job, generation); });
}

Fabric& Entering::FabricFor(const Process& process, const v1::Membership& membership) {
  const int generation = membership.generation();
  Fabric& fabric = process.job->fabrics[generation];
  const bool other = fabric.membership.generation() > 0 && fabric.membership.digest() != membership.digest();
  if (other) {
    for (const auto& [id, p] : world_.processes) {
      if (p.job == process.job && In(p, generation)) {
        world_.journal.Violate(
            absl::StrCat(process.id, " enters another generation ", generation, " than the one that ", id, " is in"));
      }
    }
    fabric = Fabric();
  }
  if (fabric.membership.generation() > 0) return fabric;
  fabric.membership = membership;
  fabric.plain = PlainOf(membership);
  return fabric;
}

void Entering::Connect(SimJob& job, int generation) {
  Fabric& fabric = job.fabrics[generation];
  if (fabric.connected || !fabric.aborted.empty()) return;
  for (const v1::Member& a : fabric.membership.members()) {
    const Process& process = world_.processes[a.trainer()];
    if (!In(process, generation) || process.frozen_until > world_.now()) return;
    for (const v1::Member& b : fabric.membership.members()) {
      if (!world_.Reachable(a.node(), b.node())) return;
    }
  }
  const bool by_nccl = fabric.membership.transport() == v1::TRANSPORT_NCCL;
  for (const v1::Member& member : fabric.membership.members()) {
    Process& process = world_.processes[member.trainer()];
    if (by_nccl && process.report.device().nccl_left()) return aborting_.Abort(process, kAccusesNobody, {});
  }
  fabric.connected = true;
  for (const v1::Member& member : fabric.membership.members()) TakeState(world_.processes[member.trainer()]);
}

void Entering::TakeState(Process& process) {
  const int generation = process.report.generation();
  const v1::Membership& membership = FabricOf(process).membership;
  const v1::Member& self = *FindMember(membership, process.id);
  double delay = 0;
  if (membership.source().has_checkpoint() || self.needs_state()) delay = world_.chance.Uniform(0.02, 0.4);
  world_.AtProcess(process.id, delay, [this, generation](Process& p) {
    if (In(p, generation)) TakeStateNow(p, generation);
  });
  world_.AtProcess(process.id, delay + kProgressDeadline, [this, generation](Process& p) {
    const Fabric& fabric = p.job->fabrics[generation];
    if (!In(p, generation) || fabric.has_state.count(p.id)) return;
    const int rank = fabric.membership.source().rank();
    aborting_.Abort(p, comm::Accusation::Kind::kTimeout, {fabric.membership.members(rank).trainer()});
  });
}

void Entering::TakeStateNow(Process& process, int generation) {
  const v1::Membership& membership = process.job->fabrics[generation].membership;
  if (membership.source().has_checkpoint() && !CanRestore(world_, process, membership.source().checkpoint())) {
    world_.journal.Count(Fault::kRestoreFailed);
    voice_.Say(process,
               [](train::Reporter& r) { r.Update([](train::Report& report) { report.has_state = false; }, false); });
    aborting_.Abort(process, kAccusesNobody, {});
    return search_.Find(process, membership.source().checkpoint(), true);
  }
  if (!membership.source().has_rank()) return HaveState(process, membership.step(), true);
  if (process.job->options.sharded && !HaveAllShards(membership)) return;
  const Process& source = world_.processes[membership.members(membership.source().rank()).trainer()];
  if (source.id != process.id && FindMember(membership, process.id)->needs_state()) {
    // If the source of the state has left, its closed connection will end the generation.
    if (!In(source, generation)) return;
    return HaveState(process, source.report.step(), true);
  }
  if (process.report.step() != membership.step() || !process.report.has_state()) {
    return world_.journal.Violate(absl::StrCat(process.id, " stands at step ", process.report.step(),
                                               " but enters generation ", generation, " at step ", membership.step(),
                                               " without being given state"));
  }
  HaveState(process, process.report.step(), false);
}

bool Entering::HaveAllShards(const v1::Membership& membership) {
  std::set<std::string> members;
  for (const v1::Member& member : membership.members()) {
    // If the member has left, its closed connection will end the generation.
    if (!In(world_.processes[member.trainer()], membership.generation())) return false;
    members.insert(member.trainer());
  }
  if (AreThere(world_.processes, members, membership.step())) return true;
  world_.journal.Violate(
      absl::StrCat("generation ", membership.generation(), " has not all shards of step ", membership.step()));
  return false;
}

void Entering::HaveState(Process& process, int step, bool written) {
  shards_.Take(process, step);
  bool interrupted = false;
  const std::set<int> assigned = AssignedTo(process, step);
  voice_.Say(process, [&](train::Reporter& r) {
    if (!written) return r.Assign(assigned);
    interrupted = !r.BeginApply();
    if (!interrupted) r.EndApply(step, 0, assigned);
  });
  if (interrupted) return;
  const int generation = process.report.generation();
  Fabric& fabric = process.job->fabrics[generation];
  fabric.has_state.insert(process.id);
  if (!process.job->options.sharded) return stepping_.Compute(process);
  world_.AtProcess(process.id, kProgressDeadline, [this, generation](Process& p) {
    if (In(p, generation)) aborting_.AccuseMissing(p, FabricOf(p).has_state);
  });
  if (static_cast<int>(fabric.has_state.size()) < fabric.membership.members_size()) return;
  // All ranks have their state now, so each of them leaves the barrier and computes.
  for (const std::string& id : std::set<std::string>(fabric.has_state)) {
    world_.AtProcess(id, world_.chance.Uniform(0, 0.02), [this, generation](Process& p) {
      if (!In(p, generation)) return;
      shards_.Release(p);
      stepping_.Compute(p);
    });
  }
}

}  // namespace rekindle::core::simulation
