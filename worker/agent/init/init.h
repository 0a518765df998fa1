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

// `kExitOk` and the constants after it are exit codes of the agent and of init. Init starts another agent after
// `kExitFailed`. After the other codes, another agent would not help, so init ends with the same code.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUse = 2;
// An agent exits with `kExitAlone` if it was without a coordinator for too long, so that the machine has to end.
inline constexpr int kExitAlone = 4;
// An agent exits with `kExitRefused` if the coordinator refused the node, or if the folder belongs to another agent.
inline constexpr int kExitRefused = 3;

// Runs `rekindle-worker init` and returns its exit code. `program` is the binary whose "agent" command is kept running.
// `arguments` are all arguments after "init", and they are passed on to the agent.
int RunInit(const std::string& program, const std::vector<std::string>& arguments);

// Returns the seconds to wait before an agent is started again after `quick_deaths` quick deaths in a row: 0, 0.1, 0.2,
// 0.5, 1, 2, then 5.
double AgentRestartDelay(int quick_deaths);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_INIT_INIT_H_
