#include "worker/agent/program/node_facts.h"

#include "absl/status/status.h"
#include "common/agreed/allow_code.h"
#include "common/agreed/version.h"
#include "common/log/log.h"
#include "common/net/address.h"
#include "worker/agent/decisions/sought.h"
#include "worker/agent/program/interpreter.h"
#include "worker/numeric/pinned_environment.h"

namespace rekindle::agent {
namespace {

constexpr int kAgentIncarnationBytes = 8;

v1::Device DeviceOf(const AgentOptions& options) {
  v1::Device device;
  device.set_kind("cpu");
  device.set_memory_bytes(ShareOf(options));
  for (const std::string& unit : models::CpuUnits()) device.add_units(unit);
  return device;
}

}  // namespace

double ShareOf(const AgentOptions& options) { return static_cast<double>(options.memory_bytes) / options.slots; }

JobCodeOptions CodeOptions(const AgentOptions& options) {
  return {.isolation = options.isolation,
          .may_be_unisolated = options.allow_code == common::kCodeUnisolated || common::IsLoopback(options.coordinator),
          .uids = options.code_uids,
          .disk = {.bytes = static_cast<int64_t>(options.code_disk)},
          .python = options.python,
          .data_roots = options.data_roots,
          .memory_bytes = ShareOf(options),
          .program = OwnProgram()};
}

std::string AllowedCode(const AgentOptions& options) {
  const bool is_refused = common::AllowsCode(options.allow_code) && options.isolation == user_code::Isolation::kNone &&
                          !CodeOptions(options).may_be_unisolated;
  return is_refused ? common::kCodeNeedsIsolation : options.allow_code;
}

void SettleIsolation(const NodeFolder& folder, AgentOptions& options) {
  if (!common::AllowsCode(options.allow_code)) return;
  std::string why;
  absl::Status usable = user_code::CheckUidRange(options.code_uids);
  if (usable.ok()) usable = user_code::MakeCodeRoot(CodeRootOf(folder));
  if (usable.ok()) {
    options.isolation = user_code::ProbeIsolation(CodeRootOf(folder), options.code_uids, options.python, &why,
                                                  options.isolation_at_most);
  } else {
    why = std::string(usable.message());
  }
  const std::string name = user_code::NameOf(options.isolation);
  if (why.empty()) {
    log::Info("code of jobs is isolated", {{"by", name}});
  } else {
    log::Warning("code of jobs is not isolated as well as it could be", {{"by", name}, {"why", why}});
  }
}

v1::NodeReport NodeFacts(const AgentOptions& options, const NodeFolder& folder,
                         const common::MachineIdentity& machine) {
  v1::NodeReport report;
  report.set_node(options.node);
  report.set_incarnation(folder.incarnation());
  report.set_home(folder.home());
  report.set_agent_incarnation(RandomHex(kAgentIncarnationBytes));
  report.set_protocol_version(common::kProtocolVersion);
  report.set_version(common::kVersion);
  report.set_slots(options.slots);
  report.set_zone(options.zone);
  report.set_pool(options.pool);
  *report.mutable_device() = DeviceOf(options);
  report.set_allow_code(AllowedCode(options));
  report.set_isolation(user_code::NameOf(options.isolation));
  if (!options.python.empty()) *report.mutable_interpreter() = AskInterpreter(options.python);
  ToProto(machine, report.mutable_machine());
  return report;
}

}  // namespace rekindle::agent
