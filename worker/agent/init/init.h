// Implements `rekindle-worker init`, the main process of a node's unit or pod. It keeps one agent running, adopts every
// process that loses its parent, and records for the agent how those processes ended. It has one thread and no gRPC, so
// that little can break.
//
// SIGTERM or SIGINT stops it. The first signal is forwarded as SIGTERM, which the agent takes as "drain". A second one
// makes the agent hurry, and a third kills it. When the agent has then ended with 0, the processes that still run are
// stopped with SIGTERM, then with SIGKILL.
#ifndef REKINDLE_WORKER_AGENT_INIT_INIT_H_
#define REKINDLE_WORKER_AGENT_INIT_INIT_H_

#include <string>
#include <vector>

namespace rekindle::agent {

// The constants below are exit codes of the agent and of init. Except after `kExitFailed` a restart would change
// nothing, so init starts no other agent and passes the code on.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUse = 2;
// The agent was without a coordinator for too long, so the machine has to end.
inline constexpr int kExitAlone = 4;
// The coordinator refused the node, or the folder belongs to another agent.
inline constexpr int kExitRefused = 3;

// Runs the "agent" command of the binary `program` and returns the exit code. `arguments` are all arguments after
// "init", and they are passed on to the agent.
int RunInit(const std::string& program, const std::vector<std::string>& arguments);

// Returns the seconds to wait before a restart after `quick_deaths` deaths in a row: 0, 0.1, 0.2, 0.5, 1, 2, then 5.
double AgentRestartDelay(int quick_deaths);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_INIT_INIT_H_
