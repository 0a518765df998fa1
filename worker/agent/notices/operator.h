// What an operator says, by a file or a command of theirs: clouds and schedulers that have no source of their own.
//
// Both speak one line, "[WITHIN] [REASON]": "90s the host is drained", "30s", "hypervisor update", or nothing but an
// empty line. Without WITHIN nobody says when.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_OPERATOR_H_
#define REKINDLE_WORKER_AGENT_NOTICES_OPERATOR_H_

#include <memory>
#include <string>
#include <string_view>

#include "worker/agent/notices/notice.h"

namespace rekindle::agent {

inline constexpr double kFileSeconds = 1;
inline constexpr double kCommandSeconds = 5;
inline constexpr double kCommandLimitSeconds = 4;  // A command that runs longer is killed.

// The first line, said at `since`.
Notice ParseNoticeLine(std::string_view text, double since);

// A notice stands while the file is there; seconds count from its last change.
std::unique_ptr<Source> NewFileSource(std::string path);
// `command` is run by /bin/sh. Exit code 0 and a line on stdout: a notice, whose seconds count from when that line was
// first seen; exit code 0 and nothing: none; anything else: it could not be heard.
std::unique_ptr<Source> NewCommandSource(std::string command, double limit_seconds = kCommandLimitSeconds);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_OPERATOR_H_
