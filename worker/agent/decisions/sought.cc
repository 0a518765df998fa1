#include "worker/agent/decisions/sought.h"

#include <cerrno>
#include <csignal>

#include "common/process/process.h"

namespace rekindle::agent {
namespace {

// Returns whether the process is gone. A process that may not be inspected counts as present.
bool IsGone(const common::ProcessIdentity& sought) {
  if (kill(sought.pid, 0) != 0) return errno == ESRCH;
  const absl::StatusOr<common::ProcessIdentity> found = common::Identify(sought.pid);
  if (!found.ok()) return false;
  if (found->start_time_ticks != sought.start_time_ticks) return true;
  const absl::StatusOr<common::Process> process = common::Process::Open(sought);
  return process.ok() && process->Exited();
}

}  // namespace

void ToProto(const common::MachineIdentity& machine, v1::Machine* message) {
  message->set_boot(machine.boot);
  message->set_processes(machine.processes);
  message->set_hardware(machine.hardware);
}

std::vector<std::string> AbsentAmong(const google::protobuf::RepeatedPtrField<v1::SoughtTrainer>& look_for,
                                     const common::MachineIdentity& here) {
  std::vector<std::string> absent;
  if (here.boot.empty() || here.processes.empty()) return absent;
  for (const v1::SoughtTrainer& sought : look_for) {
    const v1::ProcessName& process = sought.process();
    if (process.machine().boot() != here.boot || process.machine().processes() != here.processes) continue;
    if (process.pid() <= 0 || process.started() == 0) continue;
    if (IsGone({.pid = process.pid(), .start_time_ticks = process.started()})) absent.push_back(sought.trainer());
  }
  return absent;
}

}  // namespace rekindle::agent
