// Makes the part of the node's reports that does not change while the agent runs.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_NODE_FACTS_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_NODE_FACTS_H_

#include <string>

#include "common/process/machine_identity.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/program/options.h"
#include "worker/agent/user_code/job_code.h"

namespace rekindle::agent {

// Returns each trainer's share of the node's memory, in bytes.
double ShareOf(const AgentOptions& options);

// Returns how the node keeps code of jobs.
JobCodeOptions CodeOptions(const AgentOptions& options);

// Returns what the node reports as `allow_code`: no job gets a node that would refuse its code.
std::string AllowedCode(const AgentOptions& options);

// Finds out how code of jobs can be kept from what is not its own, and fills it in. It runs the node's Python, which
// takes a moment.
void SettleIsolation(const NodeFolder& folder, AgentOptions& options);

// Returns a report with everything that stays the same while the agent runs. Each call makes a new incarnation of the
// agent. It asks the node's Python for its versions, which takes a moment.
v1::NodeReport NodeFacts(const AgentOptions& options, const NodeFolder& folder, const common::MachineIdentity& machine);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_NODE_FACTS_H_
