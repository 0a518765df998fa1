// `rekindle-worker agent`: one loop that joins the coordinator's directives, the node's processes, signals and time.
#ifndef REKINDLE_WORKER_AGENT_AGENT_H_
#define REKINDLE_WORKER_AGENT_AGENT_H_

#include "worker/agent/options.h"

namespace rekindle::agent {

// Runs until drained, refused or failed. Returns the exit code (init.h). Call before any other thread is started: it
// blocks SIGTERM and SIGINT and takes them itself.
int RunAgent(const AgentOptions& options);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_AGENT_H_
