#include "worker/agent/program/node_facts.h"

#include "common/agreed/version.h"
#include "worker/agent/decisions/sought.h"
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
  ToProto(machine, report.mutable_machine());
  return report;
}

}  // namespace rekindle::agent
