// The model of the data plane: connecting, handing on state, stepping in lock step, aborting.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kProgressDeadline = 2;
constexpr int kCheckpointEvery = 5;

const v1::Member* Find(const v1::Membership& membership, const std::string& id) {
  for (const v1::Member& member : membership.members()) {
    if (member.trainer() == id) return &member;
  }
  return nullptr;
}

bool In(const Process& process, int generation) {
  return process.alive && process.report.phase() == v1::TRAINER_RUNNING && process.report.generation() == generation;
}

}  // namespace

bool World::Reachable(const std::string& a, const std::string& b) const {
  return !blocked_.count({std::min(a, b), std::max(a, b)});
}

std::set<int> World::AssignedTo(const Process& process) const {
  const v1::Membership& membership = fabrics_.at(process.report.generation()).membership;
  const v1::Member& member = *Find(membership, process.id);
  std::set<int> assigned;
  if (process.report.step() >= options_.steps) return assigned;
  if (membership.interrupted() && process.report.step() == membership.step()) {
    assigned.insert(member.holds().begin(), member.holds().end());
    assigned.insert(member.adds().begin(), member.adds().end());
  } else {
    int begin = member.begin(), end = member.end();
    const auto& cuts = fabrics_.at(process.report.generation()).cuts;
    if (auto cut = cuts.upper_bound(process.report.step()); cut != cuts.begin()) {
      const std::vector<int>& ends = std::prev(cut)->second;
      begin = member.rank() == 0 ? 0 : ends[member.rank() - 1];
      end = ends[member.rank()];
    }
    for (int i = begin; i < end; ++i) assigned.insert(i);
  }
  return assigned;
}

// All ranks have the same measurements, so all cut alike; what the measurements say is chance.
void World::MaybeRecut(Fabric& fabric, int step) {
  if (!chance_.Happens(0.2)) return;
  const int ranks = fabric.membership.members_size();
  std::set<int> ends = {options_.micro_batches};
  while (static_cast<int>(ends.size()) < ranks) {
    ends.insert(1 + static_cast<int>(chance_.Uniform(0, options_.micro_batches - 1)));
  }
  fabric.cuts[step + 1] = {ends.begin(), ends.end()};
}

void World::Connect(int generation) {
  Fabric& fabric = fabrics_[generation];
  if (fabric.connected || !fabric.aborted.empty()) return;
  for (const v1::Member& a : fabric.membership.members()) {
    const Process& process = processes_[a.trainer()];
    if (!In(process, generation) || process.frozen_until > queue_.now()) return;
    for (const v1::Member& b : fabric.membership.members()) {
      if (!Reachable(a.node(), b.node())) return;
    }
  }
  fabric.connected = true;
  for (const v1::Member& member : fabric.membership.members()) TakeState(processes_[member.trainer()]);
}

void World::TakeState(Process& process) {
  const int generation = process.report.generation();
  const v1::Membership& membership = fabrics_[generation].membership;
  const v1::Member& self = *Find(membership, process.id);
  double delay = 0;
  if (membership.source().has_checkpoint() || self.needs_state()) delay = chance_.Uniform(0.02, 0.4);
  AtProcess(process.id, delay, [this, generation](Process& p) {
    if (!In(p, generation)) return;
    const Fabric& fabric = fabrics_[generation];
    const v1::Membership& membership = fabric.membership;
    if (!membership.source().has_rank()) return HaveState(p, membership.step());
    if (options_.sharded) {
      std::set<std::string> others;
      for (const v1::Member& member : membership.members()) {
        if (!In(processes_[member.trainer()], generation)) return;  // The closed connection will end this.
        others.insert(member.trainer());
      }
      if (!AreThere(others, membership.step())) {
        return Violate(absl::StrCat("generation ", generation, " has not all shards of step ", membership.step()));
      }
    }
    const Process& source = processes_[membership.members(membership.source().rank()).trainer()];
    if (source.id != p.id && Find(membership, p.id)->needs_state()) {
      if (!In(source, generation)) return;  // The closed connection will end this.
      return HaveState(p, source.report.step());
    }
    if (p.report.step() != membership.step() || !p.report.has_state()) {
      return Violate(absl::StrCat(p.id, " stands at step ", p.report.step(), " but enters generation ", generation,
                                  " at step ", membership.step(), " without being given state"));
    }
    HaveState(p, p.report.step());
  });
  AtProcess(process.id, delay + kProgressDeadline, [this, generation](Process& p) {
    const Fabric& fabric = fabrics_[generation];
    if (!In(p, generation) || fabric.has_state.count(p.id)) return;
    const int rank = fabric.membership.source().rank();
    Abort(p, v1::Accusation::TIMEOUT, {fabric.membership.members(rank).trainer()});
  });
}

void World::HaveState(Process& process, int step) {
  TakeShards(process, step);
  process.report.set_has_state(true);
  process.report.set_step(step);
  const int generation = process.report.generation();
  Fabric& fabric = fabrics_[generation];
  fabric.has_state.insert(process.id);
  if (!options_.sharded) return Compute(process);
  AtProcess(process.id, kProgressDeadline, [this, generation](Process& p) {
    if (In(p, generation)) AccuseMissing(p, fabrics_[generation].has_state);
  });
  if (static_cast<int>(fabric.has_state.size()) < fabric.membership.members_size()) return;
  for (const std::string& id : std::set<std::string>(fabric.has_state)) {  // The barrier: all have theirs.
    AtProcess(id, chance_.Uniform(0, 0.02), [this, generation](Process& p) {
      if (!In(p, generation)) return;
      SettleShards(p);
      Compute(p);
    });
  }
}

void World::Compute(Process& process) {
  const std::set<int> assigned = AssignedTo(process);
  process.report.clear_assigned();
  for (int micro_batch : assigned) process.report.add_assigned(micro_batch);
  const double each = 0.02 * (1 + (process.node.back() % 3));
  process.report.set_micro_batch_seconds(each);
  process.report.set_step_seconds_p99(0.3);
  process.report.set_step_seconds(0.15);
  const int generation = process.report.generation();
  AtProcess(process.id, each * static_cast<double>(assigned.size()) * chance_.Uniform(0.8, 1.2),
            [this, generation](Process& p) {
              if (In(p, generation)) Contribute(p);
            });
}

void World::Contribute(Process& process) {
  const int generation = process.report.generation(), step = process.report.step();
  Fabric& fabric = fabrics_[generation];
  if (fabric.aborted.empty()) fabric.contributed[process.id] = {step, AssignedTo(process)};
  AtProcess(process.id, kProgressDeadline, [this, generation, step](Process& p) {
    Fabric& fabric = fabrics_[generation];
    if (!In(p, generation) || fabric.reduced >= step) return;
    std::set<std::string> accused;
    for (const v1::Member& member : fabric.membership.members()) {
      const auto it = fabric.contributed.find(member.trainer());
      const bool missing = it == fabric.contributed.end() || it->second.first < step;
      if (missing || !Reachable(p.node, member.node())) accused.insert(member.trainer());
    }
    Abort(p, v1::Accusation::TIMEOUT, accused);
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
  Reduce(generation, step);
}

void World::Reduce(int generation, int step) {
  Fabric& fabric = fabrics_[generation];
  CheckReduction(fabric, step);
  MaybeRecut(fabric, step);
  fabric.reduced = step;
  highest_reducing_ = std::max(highest_reducing_, generation);
  bool yield = false;
  for (const v1::Member& member : fabric.membership.members()) {
    yield = yield || processes_[member.trainer()].yield_seen;
  }
  for (const v1::Member& member : fabric.membership.members()) {
    AtProcess(member.trainer(), chance_.Uniform(0, 0.02), [this, generation, step, yield](Process& p) {
      if (!In(p, generation)) return;
      if (options_.sharded && step < options_.steps) return Prepare(p, generation, step, yield);
      Apply(p, generation, step, yield);
    });
  }
}

// Waits for nobody any longer that has not come to where the others are.
void World::AccuseMissing(Process& process, const std::set<std::string>& there) {
  std::set<std::string> accused;
  for (const v1::Member& member : fabrics_[process.report.generation()].membership.members()) {
    if (!there.count(member.trainer())) accused.insert(member.trainer());
  }
  if (!accused.empty()) Abort(process, v1::Accusation::TIMEOUT, accused);
}

// The step is applied when all have prepared it and nobody has left since, as far as each can tell.
void World::Prepare(Process& process, int generation, int step, bool yield) {
  Fabric& fabric = fabrics_[generation];
  process.report.set_prepared(true);
  fabric.prepared[step].insert(process.id);
  AtProcess(process.id, kProgressDeadline, [this, generation, step](Process& p) {
    if (In(p, generation)) AccuseMissing(p, fabrics_[generation].prepared[step]);
  });
  if (static_cast<int>(fabric.prepared[step].size()) < fabric.membership.members_size()) return;
  for (const v1::Member& member : fabric.membership.members()) {
    AtProcess(member.trainer(), chance_.Uniform(0, 0.02), [this, generation, step, yield](Process& p) {
      if (In(p, generation)) Apply(p, generation, step, yield);
    });
  }
}

void World::Apply(Process& process, int generation, int step, bool yield) {
  Fabric& fabric = fabrics_[generation];
  v1::TrainerReport& report = process.report;
  report.set_completed_step(step);  // That it was reduced shows that all had applied the ones before.
  if (step >= options_.steps) {
    report.set_phase(v1::TRAINER_FINISHED);
    report.set_state_digest("digest");
    report.clear_assigned();
    return Report(process);
  }
  report.set_step(step + 1);
  report.set_prepared(false);
  fabric.applied[step + 1].insert(process.id);
  if (static_cast<int>(fabric.applied[step + 1].size()) == fabric.membership.members_size()) {
    completed_ = std::max(completed_, step + 1);
  }
  if (fabric.membership.members(0).trainer() == process.id && (step + 1) % kCheckpointEvery == 0) {
    AtProcess(process.id, chance_.Uniform(0.05, 0.5), [this, generation, step](Process& p) {
      store_.emplace_back(generation, step + 1);
      v1::Checkpointed& committed = *p.report.mutable_committed();
      committed.set_manifest(absl::StrCat(generation, "-", step + 1));
      committed.set_generation(generation);
      committed.set_step(step + 1);
    });
  }
  if (yield && step + 1 < options_.steps) {
    report.set_phase(v1::TRAINER_QUIESCED);
    report.clear_assigned();
    return Report(process);
  }
  if (chance_.Happens(0.3)) Report(process);
  Compute(process);
}

void World::Abort(Process& process, v1::Accusation::Kind kind, const std::set<std::string>& accused) {
  if (!process.alive || process.report.phase() != v1::TRAINER_RUNNING) return;
  v1::TrainerReport& report = process.report;
  report.set_phase(v1::TRAINER_INTERRUPTED);
  report.clear_accusations();
  for (const std::string& id : accused) {
    if (id == process.id) continue;
    v1::Accusation* accusation = report.add_accusations();
    accusation->set_trainer(id);
    accusation->set_kind(kind);
  }
  fabrics_[report.generation()].aborted.insert(process.id);
  Report(process);
  TellPeers(process.id, report.generation(), 0.01);
}

// Connections of `id` in `generation` are closed: its peers see that.
void World::TellPeers(const std::string& id, int generation, double within) {
  const auto it = fabrics_.find(generation);
  if (it == fabrics_.end()) return;
  const v1::TrainerPhase phase = processes_[id].report.phase();
  if (phase == v1::TRAINER_QUIESCED || phase == v1::TRAINER_FINISHED || phase == v1::TRAINER_READY) return;
  if (!processes_[id].alive) it->second.aborted.insert(id);
  for (const std::string& peer : std::set<std::string>(it->second.entered)) {
    if (peer == id || !Reachable(processes_[id].node, processes_[peer].node)) continue;
    AtProcess(peer, chance_.Uniform(0.001, within), [this, generation, id](Process& p) {
      if (In(p, generation)) Abort(p, v1::Accusation::CLOSED, {id});
    });
  }
}

}  // namespace rekindle::core::simulation
