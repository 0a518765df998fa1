// An agent: what it decides is the real worker/agent/reconcile.h; how it carries that out is a model of the supervisor.
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/version.h"
#include "tests/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

const agent::Policy kPolicy;
constexpr double kExitSeconds = 0.3;  // From SIGTERM to a trainer's end.

// One that was killed comes back by another boot.
v1::Machine MachineOf(const SimNode& node) {
  v1::Machine machine;
  machine.set_boot(absl::StrCat("boot ", node.incarnation));
  machine.set_processes(node.name);
  machine.set_hardware(node.name);
  return machine;
}

}  // namespace

void World::AgentLoop(const std::string& name, int incarnation) {
  SimNode& node = nodes_[name];
  if (!node.up || !node.agent || node.agent_incarnation != incarnation) return;
  AgentReport(node);
  queue_.At(queue_.now() + chance_.Uniform(0.15, 0.35), [this, name, incarnation] { AgentLoop(name, incarnation); });
}

void World::AgentReport(SimNode& node) {
  v1::NodeReport report;
  report.set_node(node.name);
  report.set_incarnation(absl::StrCat("i", node.incarnation));
  report.set_agent_incarnation(absl::StrCat("a", node.agent_incarnation));
  report.set_home(absl::StrCat("h", node.incarnation));
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(1);
  report.set_pool(node.pool);
  report.set_wait_ms(500);
  report.set_draining(node.draining);
  report.set_drain_reason("SIGTERM");
  *report.mutable_machine() = MachineOf(node);
  for (const v1::SoughtTrainer& sought : node.directive.look_for()) {
    if (!processes_[sought.trainer()].alive) report.add_absent_trainers(sought.trainer());
  }
  if (!node.process.empty()) {
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(node.process);
    process->set_job_uid(processes_[node.process].job->uid);
    process->set_running(true);
  }
  for (const Exit& exit : node.exits) {
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(exit.trainer);
    process->set_job_uid(exit.job_uid);
    process->set_exit_code(exit.code);
    process->set_exit_seen(true);
  }
  const int request = ++node.request, incarnation = node.agent_incarnation;
  const std::string name = node.name;
  Send(name, [this, report, request, incarnation, name] {
    if (!coordinator_up_) return;
    Feed(NodeReported{report}, [this, report, request, incarnation, name] {
      if (cluster_->IsListening()) return;
      const v1::NodeDirective directive = cluster_->DirectiveForAgent(name, report.agent_incarnation());
      if (directive.revision() == 0) return;  // It is not decided yet whether the node's name is its own.
      Send(name, [this, directive, request, incarnation, name] {
        SimNode& node = nodes_[name];
        if (!node.up || !node.agent || node.agent_incarnation != incarnation || request < node.last_reply) return;
        node.last_reply = request;
        ObeyNode(node, directive);
      });
    });
  });
}

void World::ObeyNode(SimNode& node, const v1::NodeDirective& directive) {
  agent::Slot& slot = node.decides.slots[0];
  for (const std::string& acknowledged : directive.acknowledged_exits()) {
    if (acknowledged == node.last_ended) slot.deaths.awaits_acknowledgement = false;
    std::erase_if(node.exits, [&](const Exit& exit) { return exit.trainer == acknowledged; });
  }
  const bool probed = directive.probe() != node.directive.probe();
  node.directive = directive;
  if (directive.drained() && node.process.empty()) {
    Note(absl::StrCat("agent of ", node.name, " leaves: drained"));
    node.agent = false;
    queue_.At(queue_.now() + chance_.Uniform(1, 4), [this, name = node.name] {
      if (nodes_[name].pool.empty()) return ReturnNode(name);
      EndMachine(name);
    });
    return;
  }
  const std::string wanted = WantedOn(node);
  slot.wanted = wanted.empty() ? std::nullopt : std::optional(wanted);
  node.decides.left_alone = {directive.leave_alone().begin(), directive.leave_alone().end()};
  node.decides.desired_known = true;
  Act(node);
  if (probed) AgentReport(node);
}

void World::Act(SimNode& node) {
  if (!node.up || !node.agent) return;
  node.decides.draining = node.draining;
  const agent::Plan plan = Reconcile(node.decides, kPolicy, queue_.now());
  for (const agent::Action& action : plan.actions) Carry(node, action);
  const double wake_at = plan.actions.empty() ? plan.wake_at : Reconcile(node.decides, kPolicy, queue_.now()).wake_at;
  if (wake_at == node.wake_at || std::isinf(wake_at)) return;
  node.wake_at = wake_at;
  queue_.At(wake_at, [this, name = node.name, agent = node.agent_incarnation, wake_at] {
    SimNode& node = nodes_[name];
    if (node.agent_incarnation == agent && node.wake_at == wake_at) Act(node);
  });
}

void World::Carry(SimNode& node, const agent::Action& action) {
  agent::Slot& slot = node.decides.slots[action.slot];
  if (action.kind == agent::Action::kStart) {
    slot.running = agent::RunningTrainer{.job_uid = *slot.wanted, .started_at = queue_.now()};
    return StartTrainer(node, jobs_.at(*slot.wanted));
  }
  Process& process = processes_[node.process];
  if (action.kind == agent::Action::kKill) {
    slot.running->killed = true;
    tally_.Count(Fault::kTrainerOutOfGrace);
    return StopTrainer(process, -9, false);
  }
  slot.running->terminated_at = queue_.now();
  AtProcess(process.id, chance_.Uniform(0.005, kExitSeconds), [this](Process& p) { StopTrainer(p, 0, false); });
}

void World::AdoptOn(SimNode& node) {
  node.decides = {};
  node.wake_at = 0;
  if (node.process.empty()) return;
  const Process& process = processes_[node.process];
  node.decides.slots[0].running = agent::RunningTrainer{.job_uid = process.job->uid, .started_at = process.started_at};
}

// The job that its slot is to serve.
std::string World::WantedOn(const SimNode& node) {
  return node.directive.trainers_size() > 0 ? node.directive.trainers(0).job_uid() : "";
}

void World::StartTrainer(SimNode& node, SimJob& job) {
  Process process;
  process.job = &job;
  process.node = node.name;
  process.started_at = queue_.now();
  process.id = absl::StrCat(node.name, "/0/", node.incarnation, ".", ++node.started);
  v1::TrainerReport identity;
  identity.set_trainer(process.id);
  identity.set_node(node.name);
  identity.set_job_uid(job.uid);
  identity.set_job_secret("secret");
  identity.set_protocol_version(common::kProtocolVersion);
  identity.set_wait_ms(1000);
  identity.mutable_process()->set_pid(node.started);
  *identity.mutable_process()->mutable_machine() = MachineOf(node);
  process.reporting = std::make_unique<Reporting>(identity);
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.data_fingerprint = node.data;
          report.probe_digest = node.probe;
        },
        false);
  });
  node.process = process.id;
  const std::string id = process.id;
  processes_[id] = std::move(process);
  Note(absl::StrCat("starts ", id));
  AtProcess(id, chance_.Uniform(0.2, 0.8), [this](Process& p) { AwaitStore(p); });
  AtProcess(id, 0, [this](Process& p) { HoldLoop(p.id); });
}

// `silent`: no socket is closed (the machine lost its power).
void World::StopTrainer(Process& process, int code, bool silent) {
  if (!process.alive) return;
  Note(absl::StrCat("trainer ", process.id, " dies, code ", code, silent ? ", silently" : ""));
  process.alive = false;
  SimNode& node = nodes_[process.node];
  if (node.process == process.id) node.process.clear();
  if (!silent) TellPeers(process.id, process.report.generation(), 0.01);
  if (!node.up) return;
  node.exits.push_back({process.id, process.job->uid, code});
  node.last_ended = process.id;
  if (!node.agent) return;
  agent::Slot& slot = node.decides.slots[0];
  slot.deaths = AfterExit(slot.deaths, *slot.running, code, kPolicy, queue_.now());
  slot.running.reset();
  AgentReport(node);
  Act(node);
}

}  // namespace rekindle::core::simulation
