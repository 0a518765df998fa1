// Models the end of a generation: which ranks are accused of it, and which ranks notice it.
#include <vector>

#include "absl/status/status.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {

// Ends the process's generation, and accuses the members that are not in `there`. A member is in `there` if it has done
// in time what the process waited for.
void SimCluster::AccuseMissing(Process& process, const std::set<std::string>& there) {
  std::set<std::string> accused;
  for (const v1::Member& member : FabricOf(process).membership.members()) {
    if (!there.count(member.trainer())) accused.insert(member.trainer());
  }
  if (!accused.empty()) Abort(process, comm::Accusation::Kind::kTimeout, accused);
}

// Ends the communicator of the process's generation. What the process is writing at that moment is finished first.
void SimCluster::Abort(Process& process, comm::Accusation::Kind kind, const std::set<std::string>& accused) {
  Fabric& fabric = FabricOf(process);
  if (!In(process, process.report.generation()) || fabric.aborted.count(process.id)) return;
  std::vector<comm::Accusation> accusations;
  for (int rank = 0; rank < fabric.membership.members_size(); ++rank) {
    const std::string& id = fabric.membership.members(rank).trainer();
    if (id != process.id && accused.count(id)) accusations.push_back({rank, kind, ""});
  }
  fabric.aborted.insert(process.id);
  const int generation = process.report.generation();
  Say(process, [&](train::Reporter& r) {
    r.Interrupt(generation, fabric.plain, absl::AbortedError("the communicator has ended"), accusations);
  });
  TellPeers(process.id, generation, 0.01);
  LeaveNccl(process);
  if (!process.applies) LeaveInterrupted(process);
}

// Makes an interrupted process follow a newer directive, which it may have received while it was still stepping.
void SimCluster::LeaveInterrupted(Process& process) {
  if (process.directive.membership().generation() <= process.report.generation()) return;
  AtProcess(process.id, 0, [this](Process& p) {
    if (p.report.phase() == v1::TRAINER_INTERRUPTED) Obey(p, v1::TrainerDirective(p.directive));
  });
}

// Closes the connections of the trainer `id` in `generation`. Its peers see that within `within` seconds.
void SimCluster::TellPeers(const std::string& id, int generation, double within) {
  auto& fabrics = processes_[id].job->fabrics;
  const auto it = fabrics.find(generation);
  if (it == fabrics.end()) return;
  const v1::TrainerPhase phase = processes_[id].report.phase();
  if (phase == v1::TRAINER_QUIESCED || phase == v1::TRAINER_FINISHED || phase == v1::TRAINER_READY) return;
  if (!processes_[id].alive) it->second.aborted.insert(id);
  for (const std::string& peer : std::set<std::string>(it->second.entered)) {
    if (peer == id || !Reachable(processes_[id].node, processes_[peer].node)) continue;
    AtProcess(peer, chance_.Uniform(0.001, within), [this, generation, id](Process& p) {
      if (In(p, generation)) Abort(p, comm::Accusation::Kind::kClosed, {id});
    });
  }
}

}  // namespace rekindle::core::simulation
