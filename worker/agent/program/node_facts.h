// Makes the part of the node's reports that does not change while the agent runs.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_NODE_FACTS_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_NODE_FACTS_H_

#include "common/process/machine_identity.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/program/options.h"

namespace rekindle::agent {

// Returns each trainer's share of the node's memory, in bytes.
double ShareOf(const AgentOptions& options);

// Returns a report with everything that stays the same while the agent runs. Each call makes a new incarnation of the
// agent.
v1::NodeReport NodeFacts(const AgentOptions& options, const NodeFolder& folder, const common::MachineIdentity& machine);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_NODE_FACTS_H_
