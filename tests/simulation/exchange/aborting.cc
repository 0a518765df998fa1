#include "tests/simulation/exchange/aborting.h"

#include <vector>

#include "absl/status/status.h"

namespace rekindle::core::simulation {

void Aborting::Abort(Process& process, comm::Accusation::Kind kind, const std::set<std::string>& accused) {
  Fabric& fabric = FabricOf(process);
  if (!In(process, process.report.generation()) || fabric.aborted.count(process.id)) return;
  std::vector<comm::Accusation> accusations;
  for (int rank = 0; rank < fabric.membership.members_size(); ++rank) {
    const std::string& id = fabric.membership.members(rank).trainer();
    if (process.job->options.accuses && id != process.id && accused.count(id)) accusations.push_back({rank, kind, ""});
  }
  if (!accused.empty() && accusations.empty()) world_.journal.Count(Fault::kNobodyAccused);
  fabric.aborted.insert(process.id);
  const int generation = process.report.generation();
  voice_.Say(process, [&](train::Reporter& r) {
    r.Interrupt(generation, fabric.plain, absl::AbortedError("the communicator has ended"), accusations);
  });
  TellPeers(process.id, generation, 0.01);
  nccl_.Leave(process);
  if (!process.applies) LeaveInterrupted(process);
}

void Aborting::AccuseMissing(Process& process, const std::set<std::string>& there) {
  std::set<std::string> accused;
  for (const v1::Member& member : FabricOf(process).membership.members()) {
    if (!there.count(member.trainer())) accused.insert(member.trainer());
  }
  if (!accused.empty()) Abort(process, comm::Accusation::Kind::kTimeout, accused);
}

void Aborting::LeaveInterrupted(Process& process) {
  if (process.directive.membership().generation() <= process.report.generation()) return;
  world_.AtProcess(process.id, 0, [this](Process& p) {
    if (p.report.phase() == v1::TRAINER_INTERRUPTED) obey_(p);
  });
}

void Aborting::TellPeers(const std::string& id, int generation, double within) {
  auto& fabrics = world_.processes[id].job->fabrics;
  const auto it = fabrics.find(generation);
  if (it == fabrics.end()) return;
  const v1::TrainerPhase phase = world_.processes[id].report.phase();
  if (phase == v1::TRAINER_QUIESCED || phase == v1::TRAINER_FINISHED || phase == v1::TRAINER_READY) return;
  if (!world_.processes[id].alive) it->second.aborted.insert(id);
  for (const std::string& peer : std::set<std::string>(it->second.entered)) {
    if (peer == id || !world_.Reachable(world_.processes[id].node, world_.processes[peer].node)) continue;
    world_.AtProcess(peer, world_.chance.Uniform(0.001, within), [this, generation, id](Process& p) {
      if (In(p, generation)) Abort(p, comm::Accusation::Kind::kClosed, {id});
    });
  }
}

}  // namespace rekindle::core::simulation
