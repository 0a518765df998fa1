// Implements `rekindle-worker agent`: one loop that handles the coordinator's directives, the node's processes, signals
// and timers.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_AGENT_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_AGENT_H_

#include "worker/agent/program/options.h"

namespace rekindle::agent {

// Runs the agent until the node is drained or refused, or the agent fails. Returns the exit code (init.h). REQUIRES: no
// other thread was started yet, because this function blocks SIGTERM and SIGINT and takes them itself.
int RunAgent(const AgentOptions& options);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_AGENT_H_
