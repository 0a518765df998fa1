// Of two machines of one name the first goes on. A report of another machine than the known one opens a claim: the node
// is probed, which a live agent answers at once. If it does, the other one must wait, and both are told. If it does
// not, it is gone, and the other one is the node from now on.
//
// Until that is decided the other one is told nothing at all: it may be the true one, with trainers that run.
#ifndef REKINDLE_COORDINATOR_CORE_NAME_CLAIMS_H_
#define REKINDLE_COORDINATOR_CORE_NAME_CLAIMS_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// Is the report the node's own, be it that its sender takes the name over now? `error`: what is wrong with the report.
bool IsTheNode(Turn& turn, NodeState& node, const NodeReported& event, const std::string& error);

// In another place, which no agent of the known one can have: of that one nothing lives on.
bool IsElsewhere(const v1::NodeRecord& record, const v1::NodeReport& report);

// The node has spoken: whoever else gives its name must wait.
void RefuseClaims(Turn& turn, NodeState& node);

// Drops those of machines that are not heard of any more. Returns when it is to be called again.
double ForgetClaims(NodeState& node, double now);

// Who else gives its name, for its log and for users; empty: nobody.
std::string DescribeClaims(const NodeState& node);

// Null when it has none.
const NameClaim* FindClaim(const NodeState& node, const std::string& agent);
// Is what the node is told for that agent?
bool MaySpeakFor(const NodeState& node, const std::string& agent);
bool AwaitsDecision(const NodeState& node, const std::string& agent);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_NAME_CLAIMS_H_
