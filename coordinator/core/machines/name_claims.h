// Decides which of two machines of one name is the node: the first one goes on. A report from another machine than the
// known one opens a claim. Then the node is probed, which a live agent answers at once. If it answers, the other
// machine must wait, and both are told. If it does not, it is gone, and the other machine is the node from now on.
//
// Until that is decided, the other machine is told nothing at all. It may be the true one, with trainers that run.
#ifndef REKINDLE_COORDINATOR_CORE_MACHINES_NAME_CLAIMS_H_
#define REKINDLE_COORDINATOR_CORE_MACHINES_NAME_CLAIMS_H_

#include <string>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns whether the report is the node's own, also where its sender takes the name over now. `error` says what is
// wrong with the report.
bool IsTheNode(Turn& turn, NodeState& node, const NodeReported& event, const std::string& error);

// Returns whether the report comes from a place that no agent of the known node can have. Nothing of the known node
// lives on then.
bool IsElsewhere(const v1::NodeRecord& record, const v1::NodeReport& report);

// Makes all claims wait. The caller must call this when the node has spoken.
void RefuseClaims(Turn& turn, NodeState& node);

// Drops the claims of machines that are not heard of any more. Returns when it has to be called again.
double ForgetClaims(NodeState& node, double now);

// Describes who else gives the node's name, for its log and for users. Returns an empty string where nobody does.
std::string DescribeClaims(const NodeState& node);

// Returns null where that agent has no claim.
const NameClaim* FindClaim(const NodeState& node, const std::string& agent);
// Returns whether what the node is told is meant for that agent.
bool MaySpeakFor(const NodeState& node, const std::string& agent);
bool AwaitsDecision(const NodeState& node, const std::string& agent);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_NAME_CLAIMS_H_
