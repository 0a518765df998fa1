#include "coordinator/core/scenario/scenario_node.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/agreed/version.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

void SetIdentity(const std::string& key, const ScenarioOptions& options, v1::NodeReport& report) {
  const std::string machine = Get(options, "machine", "1");
  if (report.home().empty()) report.set_home("h" + machine);
  if (options.count("disk_of")) report.set_incarnation("i" + options.at("disk_of"));
  if (options.count("agent")) report.set_agent_incarnation(options.at("agent"));
  if (report.incarnation().empty()) report.set_incarnation("i" + machine);
  if (report.agent_incarnation().empty()) report.set_agent_incarnation("a" + machine);
  if (report.has_machine()) return;
  // The option `on` lets several nodes share a machine.
  report.mutable_machine()->set_hardware(Get(options, "on", key));
  report.mutable_machine()->set_processes(Get(options, "on", key));
  report.mutable_machine()->set_boot("b");
}

void SetDevice(const ScenarioOptions& options, v1::Device* device) {
  if (options.count("memory")) {
    device->set_kind("cpu");
    device->set_memory_bytes(ToDouble(options.at("memory")) * 1e9);
  }
  if (options.count("device")) device->set_kind(options.at("device"));
  if (options.count("gpu")) device->set_name(options.at("gpu"));
  if (options.count("units") == 0) return;
  device->set_kind("cpu");
  for (const std::string& unit : std::vector<std::string>(absl::StrSplit(options.at("units"), ','))) {
    device->add_units(unit);
  }
}

v1::TrainerProcess* AddProcess(const v1::TrainerReport& trainer, v1::NodeReport& report) {
  v1::TrainerProcess* process = report.add_trainers();
  process->set_trainer(trainer.trainer());
  process->set_job_uid(trainer.job_uid());
  process->set_slot(SlotOf(trainer.trainer()));
  return process;
}

}  // namespace

std::string MachineKey(const std::string& node, const ScenarioOptions& options) {
  const std::string machine = Get(options, "machine", "1");
  return machine == "1" ? node : absl::StrCat(node, "@", machine);
}

void SetNodeFields(const std::string& node, const std::string& key, const ScenarioOptions& options,
                   v1::NodeReport& report) {
  report.set_node(node);
  SetIdentity(key, options, report);
  report.set_protocol_version(ToInt(Get(options, "version", std::to_string(common::kProtocolVersion))));
  report.set_slots(ToInt(Get(options, "slots", std::to_string(std::max(1, report.slots())))));
  report.set_wait_ms(1000);
  if (options.count("zone")) report.set_zone(options.at("zone"));
  if (options.count("pool")) report.set_pool(options.at("pool"));
  // The options are those of rekindle-worker: `allow_code`, and `python` with the version of torch, or with a problem.
  if (options.count("allow_code")) report.set_allow_code(options.at("allow_code"));
  if (options.count("python")) report.mutable_interpreter()->set_path("/python");
  if (options.count("python")) report.mutable_interpreter()->set_torch(options.at("python"));
  if (options.count("python_problem")) report.mutable_interpreter()->set_problem(options.at("python_problem"));
  if (options.count("checkpoint")) report.set_checkpoint_incarnation(options.at("checkpoint"));
  if (options.count("memory") || options.count("device") || options.count("units")) {
    SetDevice(options, report.mutable_device());
  }
}

void AddExit(const v1::TrainerReport& trainer, int exit_code, const ScenarioOptions& options, v1::NodeReport& report) {
  v1::TrainerProcess* process = AddProcess(trainer, report);
  process->set_exit_code(exit_code);
  process->set_exit_seen(options.count("unseen") == 0);
  process->set_out_of_memory(options.count("out_of_memory") > 0);
}

bool IsNewMachine(const std::string& what) { return what == "replaced" || what == "wiped"; }

void ChangeNode(const std::string& what, const ScenarioOptions& options, v1::NodeReport& report) {
  if (IsNewMachine(what) || what == "restarted") {
    if (what != "restarted") report.set_incarnation(report.incarnation() + "+");
    if (what != "restarted") report.set_home(report.home() + "+");
    if (what == "replaced") report.mutable_machine()->set_boot(report.machine().boot() + "+");
    report.set_agent_incarnation(report.agent_incarnation() + "+");
    report.clear_draining();
    report.clear_trainers();
  } else if (what == "draining") {
    report.set_draining(true);
    report.set_drain_within_seconds(ToDouble(Get(options, "within", "0")));
    report.set_drain_reason(Get(options, "reason", "SIGTERM"));
  } else if (what == "withdrawn") {
    report.clear_draining();
    report.clear_drain_within_seconds();
    report.clear_drain_reason();
    report.clear_hint();
  } else if (what == "slot_failed") {
    v1::SlotFault* fault = report.add_slot_faults();
    fault->set_slot(ToInt(Get(options, "slot", "0")));
    fault->set_words(Get(options, "words", "GPU is lost"));
  } else if (what == "slots_mended") {
    report.clear_slot_faults();
  } else if (what == "not_started") {
    v1::StartTrouble* trouble = report.add_start_troubles();
    trouble->set_job_uid(Get(options, "job", "job") + "-uid");
    trouble->set_words(Get(options, "words", "its disk is full"));
  } else if (what == "started") {
    report.clear_start_troubles();
  } else if (what == "hint") {
    report.set_hint(Get(options, "reason", "rebalance"));
  }
}

void ListRunning(const std::vector<const v1::TrainerReport*>& trainers, v1::NodeReport& report) {
  auto* processes = report.mutable_trainers();
  processes->erase(std::remove_if(processes->begin(), processes->end(), [](const auto& p) { return p.running(); }),
                   processes->end());
  for (const v1::TrainerReport* trainer : trainers) AddProcess(*trainer, report)->set_running(true);
}

}  // namespace rekindle::core
