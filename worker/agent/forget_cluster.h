// `rekindle-worker forget-cluster`: makes a node free to obey the coordinator of another cluster.
#ifndef REKINDLE_WORKER_AGENT_FORGET_CLUSTER_H_
#define REKINDLE_WORKER_AGENT_FORGET_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::agent {

// Of the node in that folder. NOT_FOUND: it is no node's. FAILED_PRECONDITION: its agent or a trainer still runs.
absl::Status ForgetCluster(const std::string& dir);

// The command; `arguments`: all after its name. Returns the exit code (init.h).
int RunForgetCluster(const std::vector<std::string>& arguments);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_FORGET_CLUSTER_H_
