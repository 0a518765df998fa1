// Charges jobs for nodes that they have lost. The machine of a lost node may run on without anybody knowing. It is
// charged until the node is heard of, until its machine is known to have ended, or until the time is over after which a
// machine that hears of no coordinator ends itself.
#ifndef REKINDLE_COORDINATOR_CORE_CHARGES_LOST_CHARGES_H_
#define REKINDLE_COORDINATOR_CORE_CHARGES_LOST_CHARGES_H_

#include <string>

#include "coordinator/core/charges/charges.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Charges the job for `part` of the node as a lost one, for as long as its machine may run.
void NoteLost(Turn& turn, Job& job, const Charged& node, double part);

// Charges the job from now on for the part of the node with its running trainers, at most for `part`, as for a node
// that it holds. The job had lost the node or given it up.
void HoldWhatRuns(const NodeState& node, double part, Job& job);

// Ends the charge for a lost node, because it is heard of again or its machine has ended. If trainers still run on a
// node that is heard of again, its part with these trainers is charged as held. `before` says that another machine is
// heard under the node's name, so that the machine that had the name before has ended. Returns whether any job was
// charged for it as a lost node.
bool ForgetLostNode(Turn& turn, const std::string& node, bool before = false);

// Ends the charge for each lost node once the time is over for which the job is charged for it. REQUIRES: the job's
// costs are counted up to now.
void ForgetEndedNodes(Turn& turn, Job& job);

// Charges a job that is over at once for what its lost nodes may still cost.
void ChargeTheRest(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHARGES_LOST_CHARGES_H_
