// Implements `rekindle-worker forget-cluster`, which makes a node free to obey the coordinator of another cluster.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_FORGET_CLUSTER_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_FORGET_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::agent {

// Makes the node in that folder forget its cluster. Returns NOT_FOUND if the folder is no node's, and
// FAILED_PRECONDITION if its agent or a trainer still runs.
absl::Status ForgetCluster(const std::string& dir);

// Runs the command and returns the exit code (init.h). `arguments` are all arguments after the command's name.
int RunForgetCluster(const std::vector<std::string>& arguments);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_FORGET_CLUSTER_H_
