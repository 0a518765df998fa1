// Models an agent. It decides with the real worker/agent/decisions/slot_plan.h, and a model of the supervisor carries
// the decisions out.
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/agreed/version.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

const agent::Policy kPolicy;
// A trainer ends at most `kExitSeconds` after SIGTERM.
constexpr double kExitSeconds = 0.3;

// Describes the node's machine. A machine that was killed comes back with another boot id.
v1::Machine MachineOf(const SimNode& node) {
  v1::Machine machine;
  machine.set_boot(absl::StrCat("boot ", node.incarnation));
  machine.set_processes(node.name);
  machine.set_hardware(node.name);
  return machine;
}

}  // namespace

void SimCluster::AgentLoop(const std::string& name, int incarnation) {
  SimNode& node = nodes_[name];
  if (!node.up || !node.agent || node.agent_incarnation != incarnation) return;
  AgentReport(node);
  ConsiderEnd(node);
  queue_.At(queue_.now() + chance_.Uniform(0.15, 0.35), [this, name, incarnation] { AgentLoop(name, incarnation); });
}

void SimCluster::AgentReport(SimNode& node) {
  v1::NodeReport report;
  report.set_node(node.name);
  report.set_incarnation(absl::StrCat("i", node.incarnation));
  report.set_agent_incarnation(absl::StrCat("a", node.agent_incarnation));
  report.set_home(absl::StrCat("h", node.incarnation));
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(static_cast<int>(node.slots.size()));
  report.set_pool(node.pool);
  report.set_wait_ms(500);
  report.set_draining(node.draining);
  report.set_drain_reason("SIGTERM");
  *report.mutable_machine() = MachineOf(node);
  for (const v1::SoughtTrainer& sought : node.directive.look_for()) {
    if (!processes_[sought.trainer()].alive) report.add_absent_trainers(sought.trainer());
  }
  for (const Process* running : Running(node)) {
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(running->id);
    process->set_job_uid(running->job->uid);
    process->set_slot(running->slot);
    process->set_running(true);
  }
  for (const Exit& exit : node.exits) {
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(exit.trainer);
    process->set_job_uid(exit.job_uid);
    process->set_slot(exit.slot);
    process->set_exit_code(exit.code);
    process->set_exit_seen(true);
  }
  TellSlotFaults(node, &report);
  TellOfLeftAlone(node, &report);
  report.set_known_revision(node.directive.revision());
  const int request = ++node.request, incarnation = node.agent_incarnation;
  const std::string name = node.name;
  const double sent = queue_.now() * node.clock_rate;
  Send(name, [this, report, request, incarnation, name, sent] {
    if (!coordinator_up_) return;
    Feed(NodeReported{report}, [this, report, request, incarnation, name, sent] {
      for (const v1::TrainerProcess& process : report.trainers()) processes_.at(process.trainer()).is_known = true;
      if (cluster_->IsListening()) return;
      const v1::NodeDirective directive = cluster_->DirectiveForAgent(name, report.agent_incarnation());
      // Revision 0 means that the coordinator has not decided yet whether the node may use its name.
      if (directive.revision() == 0) return;
      const Cluster::Horizons horizons = cluster_->HorizonsOf(name);
      const double spend_seconds = horizons.spend_until - (queue_.now() + wall_offset_);
      Send(name, [this, directive, horizons, spend_seconds, request, incarnation, name, sent] {
        SimNode& node = nodes_[name];
        if (!node.up || !node.agent || node.agent_incarnation != incarnation || request < node.last_reply) return;
        node.last_reply = request;
        ObeyNode(node, directive);
        TellAlone(node, sent, horizons.alone_seconds, spend_seconds);
      });
    });
  });
}

void SimCluster::ObeyNode(SimNode& node, const v1::NodeDirective& directive) {
  for (const std::string& acknowledged : directive.acknowledged_exits()) {
    for (size_t slot = 0; slot < node.slots.size(); ++slot) {
      if (acknowledged != node.slots[slot].last_ended) continue;
      node.decides.slots[static_cast<int>(slot)].deaths.awaits_acknowledgement = false;
    }
    std::erase_if(node.exits, [&](const Exit& exit) { return exit.trainer == acknowledged; });
  }
  const bool probed = directive.probe() != node.directive.probe();
  node.directive = directive;
  if (options_.copies > 0) {
    for (const v1::DesiredTrainer& wanted : directive.trainers()) node.wanted[wanted.job_uid()] = wanted;
  }
  if (directive.drained() && Running(node).empty()) {
    Note(absl::StrCat("agent of ", node.name, " leaves: drained"));
    node.agent = false;
    queue_.At(queue_.now() + chance_.Uniform(1, 4), [this, name = node.name] {
      if (nodes_[name].pool.empty()) return ReturnNode(name);
      EndMachine(name);
    });
    return;
  }
  for (int slot = 0; slot < static_cast<int>(node.slots.size()); ++slot) {
    const std::string wanted = WantedOn(node, slot);
    node.decides.slots[slot].wanted = wanted.empty() ? std::nullopt : std::optional(wanted);
  }
  node.decides.left_alone = {directive.leave_alone().begin(), directive.leave_alone().end()};
  node.decides.desired_known = true;
  Act(node);
  if (probed) AgentReport(node);
}

void SimCluster::Act(SimNode& node) {
  if (!node.up || !node.agent) return;
  node.decides.draining = node.draining;
  const agent::Plan plan = Reconcile(node.decides, kPolicy, queue_.now());
  for (const agent::Action& action : plan.actions) {
    Carry(node, action);
    // After a kill the rest of the plan is dropped, because the end of the trainer has already made the agent plan
    // anew.
    if (action.kind == agent::Action::kKill) break;
  }
  const double wake_at = plan.actions.empty() ? plan.wake_at : Reconcile(node.decides, kPolicy, queue_.now()).wake_at;
  if (wake_at == node.wake_at || std::isinf(wake_at)) return;
  node.wake_at = wake_at;
  queue_.At(wake_at, [this, name = node.name, agent = node.agent_incarnation, wake_at] {
    SimNode& node = nodes_[name];
    if (node.agent_incarnation == agent && node.wake_at == wake_at) Act(node);
  });
}

void SimCluster::Carry(SimNode& node, const agent::Action& action) {
  agent::Slot& slot = node.decides.slots[action.slot];
  if (action.kind == agent::Action::kStart) {
    slot.running = agent::RunningTrainer{.job_uid = *slot.wanted, .started_at = queue_.now()};
    return StartTrainer(node, action.slot, jobs_.at(*slot.wanted));
  }
  Process& process = processes_[node.slots[action.slot].process];
  CheckLeftAlone(process, "its agent");
  if (action.kind == agent::Action::kKill) {
    slot.running->killed_at = queue_.now();
    tally_.Count(Fault::kTrainerOutOfGrace);
    return StopTrainer(process, -9, false);
  }
  slot.running->terminated_at = queue_.now();
  AtProcess(process.id, chance_.Uniform(0.005, kExitSeconds), [this](Process& p) { StopTrainer(p, 0, false); });
}

void SimCluster::AdoptOn(SimNode& node) {
  node.decides = {};
  node.wake_at = 0;
  for (const Process* process : Running(node)) {
    node.decides.slots[process->slot].running =
        agent::RunningTrainer{.job_uid = process->job->uid, .started_at = process->started_at};
  }
  node.health = agent::SlotHealth(kHealthPolicy);
  node.ask_driver_at = 0;
  AskDriver(node);
}

// Returns the uid of the job that the slot has to serve, or an empty string.
std::string SimCluster::WantedOn(const SimNode& node, int slot) {
  for (const v1::DesiredTrainer& desired : node.directive.trainers()) {
    if (desired.slot() == slot) return desired.job_uid();
  }
  return "";
}

void SimCluster::StartTrainer(SimNode& node, int slot, SimJob& job) {
  const int started = ++node.slots[slot].started;
  Process process;
  process.job = &job;
  process.node = node.name;
  process.slot = slot;
  process.started_at = queue_.now();
  process.id = absl::StrCat(node.name, "/", slot, "/", node.incarnation, ".", started);
  v1::TrainerReport identity;
  identity.set_trainer(process.id);
  identity.set_node(node.name);
  identity.set_job_uid(job.uid);
  identity.set_job_secret("secret");
  identity.set_protocol_version(common::kProtocolVersion);
  identity.set_wait_ms(1000);
  identity.mutable_process()->set_pid(1000 * slot + started);
  *identity.mutable_process()->mutable_machine() = MachineOf(node);
  process.reporting = std::make_unique<Reporting>(identity);
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.data_fingerprint = node.data;
          report.probe_digest = node.probe;
          if (node.nccl_version > 0) report.device = {.uuid = process.id, .nccl_version = node.nccl_version};
        },
        false);
  });
  process.lease = std::make_unique<train::Lease>([this, rate = node.clock_rate] { return queue_.now() * rate; });
  node.slots[slot].process = process.id;
  const std::string id = process.id;
  processes_[id] = std::move(process);
  BeginBill(processes_[id]);
  Note(absl::StrCat("starts ", id));
  if (node.slots[slot].broken_until > queue_.now()) {
    return AtProcess(id, chance_.Uniform(0.05, 0.2),
                     [this](Process& p) { StopTrainer(p, common::kExitDeviceGone, false); });
  }
  AtProcess(id, chance_.Uniform(0.2, 0.8), [this](Process& p) { AwaitStore(p); });
  AtProcess(id, 0, [this](Process& p) { HoldLoop(p.id); });
}

// Ends a trainer process. If `silent` is set, no socket is closed, as when a machine loses its power.
void SimCluster::StopTrainer(Process& process, int code, bool silent) {
  if (!process.alive) return;
  Note(absl::StrCat("trainer ", process.id, " dies, code ", code, silent ? ", silently" : ""));
  CountRan(process);
  process.alive = false;
  SimNode& node = nodes_[process.node];
  SimSlot& place = node.slots[process.slot];
  if (place.process == process.id) place.process.clear();
  if (!silent) TellPeers(process.id, process.report.generation(), 0.01);
  if (!node.up) return;
  node.exits.push_back({process.id, process.job->uid, process.slot, code});
  place.last_ended = process.id;
  if (!node.agent) return;
  NoteEndOnGpu(node, process.slot, code);
  agent::Slot& slot = node.decides.slots[process.slot];
  slot.deaths = AfterExit(slot.deaths, *slot.running, code, kPolicy, queue_.now());
  slot.running.reset();
  AgentReport(node);
  Act(node);
}

}  // namespace rekindle::core::simulation
