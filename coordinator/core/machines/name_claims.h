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

// Returns whether the report counts as the node's own: the node has sent it, or its sender takes over the node's name
// with it. `error` says what is wrong with the report.
bool IsTheNode(Turn& turn, NodeState& node, const NodeReported& event, const std::string& error);

// Returns whether the report comes from another machine, or another home folder on the machine, than the node's record
// says. Then nothing of the recorded node lives where the report comes from.
bool IsElsewhere(const v1::NodeRecord& record, const v1::NodeReport& report);

// Refuses all claims to the node's name, so that their machines wait. The caller must call RefuseClaims when the node
// itself has reported.
void RefuseClaims(Turn& turn, NodeState& node);

// Drops the claims of machines that are not heard of any more. Returns the time at which ForgetClaims has to be called
// again.
double ForgetClaims(NodeState& node, double now);

// Describes the other machines that report under the node's name, for its log and for users. Returns an empty string
// where there are none.
std::string DescribeClaims(const NodeState& node);

// Returns the agent's claim to the node's name, or null where it has none.
const NameClaim* FindClaim(const NodeState& node, const std::string& agent);
// Returns whether the agent is the node's, so that the node's directive is meant for it.
bool MaySpeakFor(const NodeState& node, const std::string& agent);
bool AwaitsDecision(const NodeState& node, const std::string& agent);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_MACHINES_NAME_CLAIMS_H_
