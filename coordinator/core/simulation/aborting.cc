// The model of a generation's end: who is accused, and who notices.
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {

// Waits for nobody any longer that has not come to where the others are.
void World::AccuseMissing(Process& process, const std::set<std::string>& there) {
  std::set<std::string> accused;
  for (const v1::Member& member : FabricOf(process).membership.members()) {
    if (!there.count(member.trainer())) accused.insert(member.trainer());
  }
  if (!accused.empty()) Abort(process, v1::Accusation::TIMEOUT, accused);
}

void World::Abort(Process& process, v1::Accusation::Kind kind, const std::set<std::string>& accused) {
  if (!In(process, process.report.generation())) return;
  v1::TrainerReport& report = process.report;
  report.set_phase(v1::TRAINER_INTERRUPTED);
  report.clear_accusations();
  for (const std::string& id : accused) {
    if (id == process.id) continue;
    v1::Accusation* accusation = report.add_accusations();
    accusation->set_trainer(id);
    accusation->set_kind(kind);
  }
  FabricOf(process).aborted.insert(process.id);
  Report(process);
  TellPeers(process.id, report.generation(), 0.01);
  if (process.directive.membership().generation() <= report.generation()) return;
  AtProcess(process.id, 0, [this](Process& p) {  // It was told of that one before, and has stopped stepping only now.
    if (p.report.phase() == v1::TRAINER_INTERRUPTED) Obey(p, v1::TrainerDirective(p.directive));
  });
}

// Connections of `id` in `generation` are closed: its peers see that.
void World::TellPeers(const std::string& id, int generation, double within) {
  auto& fabrics = processes_[id].job->fabrics;
  const auto it = fabrics.find(generation);
  if (it == fabrics.end()) return;
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
