// Implements `rekindle-worker forget-cluster`, which makes a node free to obey the coordinator of another cluster.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_FORGET_CLUSTER_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_FORGET_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::agent {

// Makes the node in the folder `dir` forget its cluster. Returns NOT_FOUND if the folder does not belong to a node, and
// FAILED_PRECONDITION if the node's agent or a trainer still runs.
absl::Status ForgetCluster(const std::string& dir);

// Runs `rekindle-worker forget-cluster` and returns the exit code (init.h). `arguments` are all arguments after the
// command's name.
int RunForgetCluster(const std::vector<std::string>& arguments);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_FORGET_CLUSTER_H_
