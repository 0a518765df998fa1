#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/agreed/version.h"
#include "coordinator/core/scenario/scenario_trainer.h"
#include "coordinator/core/simulation/market.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core::simulation {
namespace {

void Forget(v1::NodeReport& report, const auto& whom) {
  auto* trainers = report.mutable_trainers();
  trainers->erase(std::remove_if(trainers->begin(), trainers->end(), whom), trainers->end());
}

}  // namespace

void Market::Report(Process& process) {
  process.report.set_sequence(process.report.sequence() + 1);
  Feed(TrainerReported{process.report});
}

void Market::End(const std::string& trainer, int code) {
  const auto found = processes_.find(trainer);
  const v1::TrainerReport last = found->second.report;
  processes_.erase(found);
  const auto machine = machines_.find(last.node());
  if (machine == machines_.end()) return;
  v1::TrainerProcess* exit = machine->second.report.add_trainers();
  exit->set_trainer(trainer);
  exit->set_job_uid(last.job_uid());
  exit->set_slot(SlotOf(trainer));
  exit->set_exit_code(code);
  exit->set_exit_seen(true);
}

void Market::Agents() {
  for (auto it = processes_.begin(); it != processes_.end();) {
    // Removes the processes whose machines are gone.
    it = machines_.count(it->second.report.node()) ? std::next(it) : processes_.erase(it);
  }
  std::vector<std::string> names;
  for (const auto& [name, machine] : machines_) names.push_back(name);
  for (const std::string& name : names) {
    const auto machine = machines_.find(name);
    if (machine == machines_.end() || now_ < machine->second.ready_at) continue;
    v1::NodeReport& report = machine->second.report;
    report.set_node(name);
    report.set_incarnation("i1");
    report.set_agent_incarnation("a1");
    report.set_protocol_version(common::kProtocolVersion);
    report.set_slots(1);
    report.set_wait_ms(500);
    report.set_pool(machine->second.pool);
    Forget(report, [](const v1::TrainerProcess& process) { return process.running(); });
    for (const auto& [id, process] : processes_) {
      if (process.report.node() != name) continue;
      v1::TrainerProcess* running = report.add_trainers();
      running->set_trainer(id);
      running->set_job_uid(process.report.job_uid());
      running->set_slot(SlotOf(id));
      running->set_running(true);
    }
    Feed(NodeReported{report});
    if (machines_.count(name)) Obey(name, machine->second);
  }
}

void Market::Obey(const std::string& node, Machine& machine) {
  const v1::NodeDirective directive = cluster_->DirectiveForNode(node);
  machine.report.set_known_revision(directive.revision());
  for (const std::string& acknowledged : directive.acknowledged_exits()) {
    Forget(machine.report,
           [&](const v1::TrainerProcess& process) { return !process.running() && process.trainer() == acknowledged; });
  }
  machine.jobs.clear();
  for (const v1::DesiredTrainer& desired : directive.trainers()) machine.jobs[desired.slot()] = desired.job_uid();
  std::vector<std::string> stop;
  std::set<int> busy;
  for (const auto& [id, process] : processes_) {
    if (process.report.node() != node) continue;
    const auto job = machine.jobs.find(SlotOf(id));
    if (job == machine.jobs.end() || job->second != process.report.job_uid()) stop.push_back(id);
    busy.insert(SlotOf(id));
  }
  for (const std::string& id : stop) End(id, -15);
  for (const auto& [slot, uid] : machine.jobs) {
    if (busy.count(slot)) continue;
    const std::string name = absl::StrCat(node, "/", slot);
    Process process;
    process.report = NewTrainer(name, ++starts_[name], uid, "secret");
    process.ready_at = now_ + chance_.Uniform(0.5, 3);
    const Wish& wish = wishes_[uid];
    if (!wish.saved.empty()) (void)SetFields({{"restorable", wish.saved}}, process.report);
    processes_[process.report.trainer()] = process;
  }
}

void Market::Trainers() {
  std::map<std::string, std::vector<std::string>> members;
  std::vector<std::string> gone;
  for (auto& [id, process] : processes_) {
    if (now_ < process.ready_at) continue;
    Report(process);
    const std::string& uid = process.report.job_uid();
    v1::TrainerDirective directive = cluster_->DirectiveForTrainer(uid, id);
    // A trainer enters a newer membership even if it has to stop at the membership's first boundary.
    const bool newer = directive.membership().generation() > process.report.generation();
    if (newer && directive.action() == v1::TrainerDirective::YIELD) directive.set_action(v1::TrainerDirective::RUN);
    if (directive.action() == v1::TrainerDirective::EXIT) {
      gone.push_back(id);
    } else if (directive.action() != v1::TrainerDirective::YIELD) {
      FollowDirective(directive, process.report);
    }
    if (process.report.phase() == v1::TRAINER_RUNNING) members[uid].push_back(id);
  }
  for (const std::string& id : gone) {
    if (processes_.count(id)) End(id, 0);
  }
  for (const auto& [uid, ids] : members) Work(uid, ids);
}

// Lets all members make a step together, and stop at a boundary as they are told. If one of them is missing, the others
// are interrupted.
void Market::Work(const std::string& uid, const std::vector<std::string>& members) {
  int generation = 0, entered = 0;
  v1::TrainerDirective directive;
  for (const std::string& id : members) {
    const auto process = processes_.find(id);
    if (process == processes_.end()) continue;
    generation = std::max(generation, process->second.report.generation());
    directive = cluster_->DirectiveForTrainer(uid, id);
  }
  const v1::Membership& membership = directive.membership();
  if (membership.generation() != generation) {
    // Members learn only from the other members of their generation that it has ended.
    const bool broken = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
      const v1::TrainerReport& report = other.second.report;
      return report.job_uid() == uid && report.generation() == generation && report.phase() == v1::TRAINER_INTERRUPTED;
    });
    for (const std::string& id : members) {
      const auto process = processes_.find(id);
      if (broken && process != processes_.end()) process->second.report.set_phase(v1::TRAINER_INTERRUPTED);
    }
    return;
  }
  bool whole = true;
  for (const v1::Member& member : membership.members()) {
    const auto process = processes_.find(member.trainer());
    whole = whole && process != processes_.end();
    entered += process != processes_.end() && process->second.report.phase() == v1::TRAINER_RUNNING &&
               process->second.report.generation() == generation;
  }
  // Members enter a generation, and make a step, each in its own time.
  if (whole && (entered < membership.members_size() || chance_.Happens(0.3))) return;
  const bool yields = directive.action() == v1::TrainerDirective::YIELD;
  Wish& wish = wishes_[uid];
  for (const v1::Member& member : membership.members()) {
    const auto found = processes_.find(member.trainer());
    if (found == processes_.end()) continue;
    Process& process = found->second;
    if (!whole) {
      process.report.set_phase(v1::TRAINER_INTERRUPTED);
    } else if (yields) {
      FollowDirective(directive, process.report);
      if (!directive.checkpoint()) continue;
      wish.saved = absl::StrCat(generation, "-", process.report.step(), "-x");
      (void)SetFields({{"committed", wish.saved}}, process.report);
    } else {
      CompleteSteps(membership, 1, process.report);
      if (process.report.step() < wish.steps) continue;
      process.report.set_phase(v1::TRAINER_FINISHED);
      process.report.set_state_digest("d");
      // The result of a job that has finished is saved at once.
      wish.saved = absl::StrCat(generation, "-", process.report.step(), "-x");
      (void)SetFields({{"committed", wish.saved}}, process.report);
    }
  }
}

}  // namespace rekindle::core::simulation
