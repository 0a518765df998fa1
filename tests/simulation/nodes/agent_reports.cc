#include "tests/simulation/nodes/agent_reports.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/agreed/version.h"
#include "coordinator/core/record/job_json.h"

namespace rekindle::core::simulation {
namespace {

// Adds which trainers run on the node and which have ended.
void TellOfTrainers(const World& world, const SimNode& node, v1::NodeReport* report) {
  for (const v1::SoughtTrainer& sought : node.directive.look_for()) {
    const auto process = world.processes.find(sought.trainer());
    if (process != world.processes.end() && !process->second.alive) report->add_absent_trainers(sought.trainer());
  }
  for (const Process* running : world.Running(node)) {
    v1::TrainerProcess* process = report->add_trainers();
    process->set_trainer(running->id);
    process->set_job_uid(running->job->uid);
    process->set_slot(running->slot);
    process->set_running(true);
  }
  for (const Exit& exit : node.exits) {
    v1::TrainerProcess* process = report->add_trainers();
    process->set_trainer(exit.trainer);
    process->set_job_uid(exit.job_uid);
    process->set_slot(exit.slot);
    process->set_exit_code(exit.code);
    process->set_exit_seen(true);
  }
}

// Adds which slots are out of use because of their GPUs.
void TellSlotFaults(const World& world, const SimNode& node, v1::NodeReport* report) {
  bool driver_says_so = world.Running(node).empty() && node.health.faults().size() == node.slots.size();
  for (const auto& [slot, fault] : node.health.faults()) {
    v1::SlotFault* told = report->add_slot_faults();
    told->set_slot(slot);
    told->set_words(fault.words);
    driver_says_so = driver_says_so && fault.driver_says_so;
  }
  if (driver_says_so) report->set_hint("every slot is out of use");
}

// Adds to the node's report, for the jobs that the coordinator does not know and that the agent must let run: how the
// agent was last told to run them, and what their checkpoint stores say of those that the coordinator asks about.
void TellOfLeftAlone(const World& world, const SimNode& node, v1::NodeReport* report) {
  for (const std::string& uid : node.directive.leave_alone()) {
    const auto wanted = node.wanted.find(uid);
    if (wanted != node.wanted.end()) *report->add_left_alone() = wanted->second;
  }
  if (node.store_away_until > world.now()) return;
  for (const std::string& uid : node.directive.read_stored()) {
    const SimJob& job = world.jobs.at(uid);
    v1::StoredJob* stored = report->add_stored_jobs();
    stored->set_job_uid(uid);
    if (node.unmounted_until > world.now() || job.lost.stored.job_uid().empty()) {
      stored->set_problem("there is no job.json");
      continue;
    }
    const v1::JobFile& kept = job.lost.stored;
    const v1::JobFile file = MakeJobFile(kept.record(), kept.identity(), kept.written_at());
    stored->set_job_file(EncodeJobFile(file).value_or(""));
    for (const SavedCheckpoint& saved : job.store) {
      stored->set_generation(std::max(stored->generation(), saved.generation));
    }
  }
}

}  // namespace

v1::Machine MachineOf(const SimNode& node) {
  v1::Machine machine;
  machine.set_boot(absl::StrCat("boot ", node.incarnation));
  machine.set_processes(node.name);
  machine.set_hardware(node.name);
  return machine;
}

v1::NodeReport ReportOf(const World& world, const SimNode& node) {
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
  TellOfTrainers(world, node, &report);
  TellSlotFaults(world, node, &report);
  TellOfLeftAlone(world, node, &report);
  report.set_known_revision(node.directive.revision());
  return report;
}

}  // namespace rekindle::core::simulation
