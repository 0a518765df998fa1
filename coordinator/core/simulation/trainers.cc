// The model of a trainer towards the coordinator, as worker/train/{engine,reporter,coordinator_session}.cc.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

Ending EndingIn(const v1::TrainerDirective& directive) {
  if (directive.action() != v1::TrainerDirective::YIELD) return Ending::kNone;
  return directive.checkpoint() ? Ending::kSave : Ending::kYield;
}

}  // namespace
// A dead process does nothing; a frozen one does it when it wakes.
void World::AtProcess(const std::string& id, double delay, std::function<void(Process&)> run) {
  queue_.At(queue_.now() + delay, [this, id, run = std::move(run)] {
    Process& process = processes_[id];
    if (!process.alive) return;
    if (process.frozen_until > queue_.now()) {
      AtProcess(id, process.frozen_until - queue_.now() + 1e-6, run);
    } else {
      run(process);
    }
  });
}

void World::TrainerLoop(const std::string& id) {
  Process& process = processes_[id];
  FollowSearch(process);
  Report(process);
  const bool running = In(process, process.report.generation());
  AtProcess(id, chance_.Uniform(0.05, running ? 0.4 : 0.15), [this](Process& p) { TrainerLoop(p.id); });
}

void World::Report(Process& process) {
  process.report.set_sequence(process.report.sequence() + 1);
  process.report.set_known_revision(process.known_revision);
  if (epoch_ > 1 && process.report.generation() > 0) {
    *process.report.mutable_membership() = process.job->fabrics[process.report.generation()].membership;
  }
  const v1::TrainerReport report = process.report;
  const double sent = ClockOf(process);
  Send(process.node, [this, report, sent] {
    if (!coordinator_up_) return;
    Feed(TrainerReported{report}, [this, report, sent] {
      if (cluster_->IsListening()) return;
      const v1::TrainerDirective directive =
          cluster_->DirectiveForTrainer(report.job_uid(), report.trainer(), report.known_revision());
      if (directive.revision() == report.known_revision()) return;
      NoteAnswer(report.job_uid(), directive);
      Send(report.node(), [this, directive, report, sent] {
        AtProcess(report.trainer(), 0, [this, directive, sent, sequence = report.sequence()](Process& p) {
          if (sequence < p.last_reply) return;
          p.last_reply = sequence;
          BeginLease(p, directive, sent);
          Obey(p, directive);
        });
      });
    });
  });
}

void World::Obey(Process& process, const v1::TrainerDirective& directive) {
  process.known_revision = directive.revision();
  if (directive.tell_membership()) return;  // What it was told before stands.
  process.directive = directive;
  if (!directive.error().empty()) return Violate(absl::StrCat(process.id, " is refused: ", directive.error()));
  if (directive.action() == v1::TrainerDirective::EXIT) return StopTrainer(process, 0, false);
  v1::TrainerReport& report = process.report;
  const bool newer = directive.membership().generation() > report.generation();
  if (In(process, report.generation())) {
    process.ending_seen = newer ? Ending::kNone : EndingIn(directive);
    if (!newer && directive.action() != v1::TrainerDirective::WAIT) return;
    Abort(process, v1::Accusation::KIND_UNSPECIFIED, {});
  }
  if (newer && FindMember(directive.membership(), process.id) != nullptr) return Enter(process, directive.membership());
  if (!newer || report.phase() == v1::TRAINER_READY) return;
  report.set_phase(v1::TRAINER_READY);  // Left out: warm, but what it holds counts no more.
  report.set_prepared(false);
  report.clear_assigned();
  report.clear_accusations();
  Report(process);
}

// Records of a copy may give a number a second time: ranks of two memberships never meet, whatever their number.
Fabric& World::FabricFor(const Process& process, const v1::Membership& membership) {
  const int generation = membership.generation();
  Fabric& fabric = process.job->fabrics[generation];
  const bool other = fabric.membership.generation() > 0 && fabric.membership.digest() != membership.digest();
  if (other) {
    for (const auto& [id, p] : processes_) {
      if (p.job == process.job && In(p, generation)) {
        Violate(
            absl::StrCat(process.id, " enters another generation ", generation, " than the one that ", id, " is in"));
      }
    }
    fabric = Fabric();
  }
  fabric.membership = membership;
  return fabric;
}

void World::Enter(Process& process, const v1::Membership& membership) {
  Fabric& fabric = FabricFor(process, membership);
  v1::TrainerReport& report = process.report;
  report.set_phase(v1::TRAINER_RUNNING);
  report.set_generation(membership.generation());
  report.set_completed_step(std::min(report.completed_step(), membership.step()));
  report.clear_accusations();
  process.ending_seen = EndingIn(process.directive);
  fabric.entered.insert(process.id);
  Report(process);
  const int generation = membership.generation();
  if (!fabric.aborted.empty()) {
    const std::set<std::string> accused = {*fabric.aborted.begin()};
    AtProcess(process.id, 0.005, [this, generation, accused](Process& p) {
      if (p.report.generation() == generation) Abort(p, v1::Accusation::CLOSED, accused);
    });
    return;
  }
  AtProcess(process.id, 1.5, [this, generation](Process& p) {  // The connect deadline.
    Fabric& fabric = p.job->fabrics[generation];
    if (fabric.connected || p.report.generation() != generation) return;
    std::set<std::string> accused;
    for (const v1::Member& member : fabric.membership.members()) {
      if (!fabric.entered.count(member.trainer()) || !Reachable(p.node, member.node()))
        accused.insert(member.trainer());
    }
    Abort(p, v1::Accusation::UNREACHABLE, accused);
  });
  queue_.At(queue_.now() + 0.005, [this, job = process.job, generation] { Connect(*job, generation); });
}

}  // namespace rekindle::core::simulation
