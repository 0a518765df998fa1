// How init tells the agent that a process ended whose parent it became: one file DIR/exits/<pid>-<start time> with the
// exit code or -signal as text. Written whole before the zombie is taken away.
#ifndef REKINDLE_WORKER_AGENT_EXITS_H_
#define REKINDLE_WORKER_AGENT_EXITS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/process.h"

namespace rekindle::agent {

absl::Status RecordExit(const std::string& dir, const common::ProcessIdentity& process, common::ExitStatus status);
// Reads the record and removes it; nothing when there is none.
std::optional<common::ExitStatus> TakeExit(const std::string& dir, const common::ProcessIdentity& process);
// Removes all records but those of `watched`: nobody asks for the others.
void ClearExits(const std::string& dir, const std::vector<common::ProcessIdentity>& watched);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_EXITS_H_
