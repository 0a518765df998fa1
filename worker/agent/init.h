// `rekindle-worker init`: the main process of a node's unit or pod. It keeps one agent running, takes in every process
// that loses its parent, and records how those ended for the agent. No gRPC here, one thread: nothing that can break.
//
// Stopping: SIGTERM or SIGINT is forwarded as SIGTERM, which the agent takes as "drain"; a second one hurries; a third
// kills. When the agent has ended with 0 after that, what still runs is stopped (SIGTERM, then SIGKILL).
#ifndef REKINDLE_WORKER_AGENT_INIT_H_
#define REKINDLE_WORKER_AGENT_INIT_H_

#include <string>
#include <vector>

namespace rekindle::agent {

// Exit codes of the agent that no restart would change; init passes them on.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitAlone = 4;    // Without a coordinator for too long: the machine is to end.
inline constexpr int kExitRefused = 3;  // By the coordinator, or the folder belongs to another agent.

// `program`: the binary whose "agent" command is run; `arguments`: all after "init", passed on to the agent.
// Returns the exit code.
int RunInit(const std::string& program, const std::vector<std::string>& arguments);

// Seconds to wait before a restart after `quick_deaths` deaths in a row: 0, 0.1, 0.2, 0.5, 1, 2, then 5.
double AgentRestartDelay(int quick_deaths);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_INIT_H_
