// Ends the code of jobs on a node that has lost its agent. The agent ends all code of a job that leaves the node, but
// it may be killed, and its init with it. Code that means harm may have killed the job's warm process and left its
// process group, so that nobody else would end it. A process of its own waits for the agent's end, which that code
// cannot touch.
#ifndef REKINDLE_WORKER_AGENT_USER_CODE_CODE_WATCH_H_
#define REKINDLE_WORKER_AGENT_USER_CODE_CODE_WATCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::agent {

// The command of rekindle-worker that is such a process.
inline constexpr char kWatchCodeCommand[] = "watch-code";

// Starts the process, with the file of rekindle-worker, for the node's folder `dir`. It waits for the end of this
// process.
absl::StatusOr<common::Process> StartCodeWatch(const std::string& program, const std::string& dir);

// Is the process. After the agent's end it ends the code of each job as soon as the job has no trainer on the node, and
// ends itself when no such code is left or another agent has the folder. Returns the exit code. REQUIRES: descriptor 3
// is a pidfd of the agent.
int RunCodeWatch(const std::vector<std::string>& arguments);

// Kills the code of all jobs in the node's folder that have a user id and no trainer. Returns whether the caller has to
// look again soon, because trainers run. Does nothing and returns false if an agent has the folder.
bool EndCodeWithoutTrainers(const std::string& dir);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_USER_CODE_CODE_WATCH_H_
