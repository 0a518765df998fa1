// Provides what charges for held nodes and charges for lost nodes have in common.
#ifndef REKINDLE_COORDINATOR_CORE_CHARGES_CHARGES_H_
#define REKINDLE_COORDINATOR_CORE_CHARGES_CHARGES_H_

#include <string>
#include <string_view>

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Describes a node that a job is charged for, as the job's record has it.
using Charged = v1::JobRecord::ChargedNode;
// A part of a node below `kNothing` counts as none, because parts are rounded.
inline constexpr double kNothing = 1e-9;

Charged DescribeCharged(std::string_view name, const NodeState& node, double part);

// Returns the description of another part of the same node.
inline Charged DescribePart(Charged charged, double part) {
  charged.set_part(part);
  return charged;
}

// Returns whether `charged` and `node` are the same machine. A node whose folder was wiped is still on the same
// machine.
bool IsSameNode(const Charged& charged, const NodeState& node);

// Returns which part of the node the job is charged for as a node that it holds.
double HeldPart(const Job& job, const std::string& node);

// Returns which part of the node runs trainers of the job, according to its agent's newest report.
double RunningPart(const NodeState& node, const std::string& job_uid);

// Returns the latest time, in Unix seconds, at which a silent machine ends itself. Returns infinity where it does not
// end itself.
double EndsBy(const State& state, const Charged& held);

// Adds to the job's costs what the node costs from `from` until `until`, in Unix seconds. `heard` says that the node
// was heard of in that time.
void ChargeFor(const State& state, Job& job, const Charged& node, double from, double until, bool heard);

// Wakes the job when the time is over for which it is charged for a silent node. Perhaps nothing else wakes the job,
// and then the charge would go on until something does.
void WakeAtEnds(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHARGES_CHARGES_H_
