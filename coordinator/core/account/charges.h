// Holds what the charges for held and for lost nodes have in common.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_CHARGES_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_CHARGES_H_

#include <string>
#include <string_view>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Describes a node that a job is charged for, as the job's record has it.
using Charged = v1::JobRecord::ChargedNode;
// Parts of nodes are rounded, so a smaller part counts as none.
inline constexpr double kNothing = 1e-9;

Charged DescribeCharged(std::string_view name, const NodeState& node, double part);

// Returns whether both are the same machine. A node whose folder was wiped is still on the same machine.
bool IsSameNode(const Charged& charged, const NodeState& node);

// Returns which part of the node runs trainers of the job, according to its agent's newest report.
double RunningPart(const NodeState& node, const std::string& job_uid);

// Returns when a silent machine has ended itself at the latest, in Unix seconds. Returns infinity where it does not end
// itself.
double EndsBy(const State& state, const Charged& held);

// Adds to the job's costs what the node costs between these times, in Unix seconds. `heard` says that the node was
// heard of.
void ChargeFor(const State& state, Job& job, const Charged& node, double from, double until, bool heard);

// Wakes the job when the time of a silent node is over. Nothing else may wake it, and it would be charged till then.
void WakeAtEnds(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_CHARGES_H_
