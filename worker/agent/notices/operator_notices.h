// Reads an operator's own interruption notices from a file, or from the output of a command. They serve clouds and
// schedulers for which Rekindle has no source of its own.
//
// The file and the command give one line, "[WITHIN] [REASON]". Examples are "90s the host is drained", "30s",
// "hypervisor update", or an empty line. Without WITHIN the notice has no time.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_OPERATOR_NOTICES_H_
#define REKINDLE_WORKER_AGENT_NOTICES_OPERATOR_NOTICES_H_

#include <memory>
#include <string>
#include <string_view>

#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

// An operator's command that runs longer than `kCommandLimitSeconds` is killed.
inline constexpr double kCommandLimitSeconds = 4;

// Parses the first line of an operator's notice that was written at `since`.
Notice ParseNoticeLine(std::string_view text, double since);

// Makes a source whose notice stands while the file `path` exists. The seconds of the notice count from the file's last
// change.
std::unique_ptr<Source> NewFileSource(std::string path);
// Makes a source that runs `command` by /bin/sh. Exit code 0 with a line on stdout is a notice, whose seconds count
// from when that line was first seen. Exit code 0 with no output means no notice. Everything else is an error.
std::unique_ptr<Source> NewCommandSource(std::string command, double limit_seconds = kCommandLimitSeconds);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_OPERATOR_NOTICES_H_
