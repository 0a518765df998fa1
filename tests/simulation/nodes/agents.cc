#include "tests/simulation/nodes/agents.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tests/simulation/nodes/agent_reports.h"

namespace rekindle::core::simulation {
namespace {

const agent::Policy kPolicy;
// A trainer ends at most `kExitSeconds` after SIGTERM.
constexpr double kExitSeconds = 0.3;

}  // namespace

void Agents::Loop(const std::string& name, int incarnation) {
  SimNode& node = world_.nodes[name];
  if (!node.up || !node.agent || node.agent_incarnation != incarnation) return;
  Report(node);
  lone_machines_.ConsiderEnd(node);
  world_.After(world_.chance.Uniform(0.15, 0.35), [this, name, incarnation] { Loop(name, incarnation); });
}

void Agents::Report(SimNode& node) {
  const v1::NodeReport report = ReportOf(world_, node);
  const int request = ++node.request, incarnation = node.agent_incarnation;
  const double sent = world_.now() * node.clock_rate;
  world_.Send(node.name, [this, report, request, incarnation, sent] {
    if (!coordinator_.is_up()) return;
    coordinator_.Feed(NodeReported{report},
                      [this, report, request, incarnation, sent] { SendAnswer(report, request, incarnation, sent); });
  });
}

void Agents::SendAnswer(const v1::NodeReport& report, int request, int incarnation, double sent) {
  const std::string& name = report.node();
  for (const v1::TrainerProcess& process : report.trainers()) world_.processes.at(process.trainer()).is_known = true;
  if (coordinator_.core().IsListening()) return;
  const v1::NodeDirective directive = coordinator_.core().DirectiveForAgent(name, report.agent_incarnation());
  // Revision 0 means that the coordinator has not decided yet whether the node may use its name.
  if (directive.revision() == 0) return;
  const Cluster::Horizons horizons = coordinator_.core().HorizonsOf(name);
  const double spend_seconds = horizons.spend_until - coordinator_.clock().UnixNow();
  world_.Send(name, [this, directive, horizons, spend_seconds, request, incarnation, name, sent] {
    SimNode& node = world_.nodes[name];
    if (!node.up || !node.agent || node.agent_incarnation != incarnation || request < node.last_reply) return;
    node.last_reply = request;
    Obey(node, directive);
    lone_machines_.Heard(node, sent, horizons.alone_seconds, spend_seconds);
  });
}

void Agents::NoteAcknowledged(SimNode& node, const v1::NodeDirective& directive) {
  for (const std::string& acknowledged : directive.acknowledged_exits()) {
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      if (acknowledged != node.slots[slot].last_ended) continue;
      node.decides.slots[static_cast<int>(slot)].deaths.awaits_acknowledgement = false;
    }
    std::erase_if(node.exits, [&](const Exit& exit) { return exit.trainer == acknowledged; });
  }
}

void Agents::Obey(SimNode& node, const v1::NodeDirective& directive) {
  NoteAcknowledged(node, directive);
  const bool probed = directive.probe() != node.directive.probe();
  node.directive = directive;
  if (world_.options.copies > 0) {
    for (const v1::DesiredTrainer& wanted : directive.trainers()) node.wanted[wanted.job_uid()] = wanted;
  }
  if (directive.drained() && world_.Running(node).empty()) {
    world_.journal.Note(absl::StrCat("agent of ", node.name, " leaves: drained"));
    node.agent = false;
    return drained_(node.name);
  }
  for (int slot = 0; slot < static_cast<int>(node.slots.size()); ++slot) {
    const std::string wanted = WantedOn(node, slot);
    node.decides.slots[slot].wanted = wanted.empty() ? std::nullopt : std::optional(wanted);
  }
  node.decides.left_alone = {directive.leave_alone().begin(), directive.leave_alone().end()};
  node.decides.desired_known = true;
  Act(node);
  if (probed) Report(node);
}

void Agents::Act(SimNode& node) {
  if (!node.up || !node.agent) return;
  node.decides.draining = node.draining;
  const agent::Plan plan = Reconcile(node.decides, kPolicy, world_.now());
  for (const agent::Action& action : plan.actions) {
    Carry(node, action);
    // After a kill the rest of the plan is dropped, because the end of the trainer has already made the agent plan
    // anew.
    if (action.kind == agent::Action::kKill) break;
  }
  const double wake_at = plan.actions.empty() ? plan.wake_at : Reconcile(node.decides, kPolicy, world_.now()).wake_at;
  if (wake_at == node.wake_at || std::isinf(wake_at)) return;
  node.wake_at = wake_at;
  world_.queue.At(wake_at, [this, name = node.name, agent = node.agent_incarnation, wake_at] {
    SimNode& node = world_.nodes[name];
    if (node.agent_incarnation == agent && node.wake_at == wake_at) Act(node);
  });
}

void Agents::Carry(SimNode& node, const agent::Action& action) {
  agent::Slot& slot = node.decides.slots[action.slot];
  if (action.kind == agent::Action::kStart) {
    slot.running = agent::RunningTrainer{.job_uid = *slot.wanted, .started_at = world_.now()};
    return supervisor_.Start(node, action.slot, world_.jobs.at(*slot.wanted));
  }
  Process& process = world_.processes[node.slots[action.slot].process];
  world_.Tell([&](Observer& observer) { observer.ProcessIsStopped(process, "its agent"); });
  if (action.kind == agent::Action::kKill) {
    slot.running->killed_at = world_.now();
    world_.journal.Count(Fault::kTrainerOutOfGrace);
    return supervisor_.Stop(process, -9, false);
  }
  slot.running->terminated_at = world_.now();
  world_.AtProcess(process.id, world_.chance.Uniform(0.005, kExitSeconds),
                   [this](Process& p) { supervisor_.Stop(p, 0, false); });
}

void Agents::Adopt(SimNode& node) {
  node.decides = {};
  node.wake_at = 0;
  for (const Process* process : world_.Running(node)) {
    node.decides.slots[process->slot].running =
        agent::RunningTrainer{.job_uid = process->job->uid, .started_at = process->started_at};
  }
  node.health = agent::SlotHealth(kHealthPolicy);
  node.ask_driver_at = 0;
  gpu_health_.AskDriver(node);
}

void Agents::NoteEnd(SimNode& node, int slot, int code) {
  gpu_health_.NoteEnd(node, slot, code);
  agent::Slot& place = node.decides.slots[slot];
  place.deaths = AfterExit(place.deaths, *place.running, code, kPolicy, world_.now());
  place.running.reset();
  Report(node);
  Act(node);
}

}  // namespace rekindle::core::simulation
