// Lets init tell the agent how a process ended that init had adopted. There is one file DIR/exits/<pid>-<start time>
// for each such process, which holds the exit code, or the signal as a negative number. The file is written whole
// before the zombie is reaped.
#ifndef REKINDLE_WORKER_AGENT_FOLDER_EXITS_H_
#define REKINDLE_WORKER_AGENT_FOLDER_EXITS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/process/process.h"

namespace rekindle::agent {

absl::Status RecordExit(const std::string& dir, const common::ProcessIdentity& process, common::ExitStatus status);
// Reads and removes init's record of how `process` ended. Returns nothing if there is no record.
std::optional<common::ExitStatus> TakeExit(const std::string& dir, const common::ProcessIdentity& process);
// Removes all exit records except those of the processes in `watched`. Nobody will read the others.
void ClearExits(const std::string& dir, const std::vector<common::ProcessIdentity>& watched);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FOLDER_EXITS_H_
