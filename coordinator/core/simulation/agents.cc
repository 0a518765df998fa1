// The model of an agent: level-triggered, as worker/agent.
#include "absl/strings/str_cat.h"
#include "common/version.h"
#include "coordinator/core/simulation/world.h"

namespace rekindle::core::simulation {
namespace {

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
  for (const std::string& acknowledged : directive.acknowledged_exits()) {
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
  if (!node.process.empty() && processes_[node.process].job->uid != wanted) {
    StopTrainer(processes_[node.process], -15, false);
  }
  if (!wanted.empty() && node.process.empty()) StartTrainer(node, jobs_.at(wanted));
  if (probed) AgentReport(node);
}

// The job that its slot is to serve.
std::string World::WantedOn(const SimNode& node) {
  return node.directive.trainers_size() > 0 ? node.directive.trainers(0).job_uid() : "";
}

void World::StartTrainer(SimNode& node, SimJob& job) {
  Process process;
  process.job = &job;
  process.node = node.name;
  process.id = absl::StrCat(node.name, "/0/", node.incarnation, ".", ++node.started);
  process.report.set_trainer(process.id);
  process.report.set_node(node.name);
  process.report.set_job_uid(job.uid);
  process.report.set_job_secret("secret");
  process.report.set_protocol_version(common::kProtocolVersion);
  process.report.set_phase(v1::TRAINER_STARTING);
  process.report.set_data_fingerprint("data");
  process.report.set_probe_digest("probe");
  process.report.set_micro_batch_seconds(0);
  process.report.set_wait_ms(1000);
  process.report.mutable_process()->set_pid(node.started);
  *process.report.mutable_process()->mutable_machine() = MachineOf(node);
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
  if (node.agent) AgentReport(node);
}

}  // namespace rekindle::core::simulation
