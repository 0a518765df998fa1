// Which nodes a job is charged for: those that it has slots of, and those that it has lost. The machine of a lost node
// may run on, and nobody knows. It is charged until it is heard of, is known to have ended, or until the time is over
// after which a machine that hears of no coordinator ends itself.
#ifndef REKINDLE_COORDINATOR_CORE_CHARGED_NODES_H_
#define REKINDLE_COORDINATOR_CORE_CHARGED_NODES_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

// REQUIRED after the incarnation, the pool or the number of slots in the node's record has changed.
void ChangeCharged(State& state, NodeState& node);

// After slots were given or taken, or a node was lost: what each job is charged for from now on. Of a job that is over
// what its lost nodes may still cost is charged at once.
void ShareNodes(Turn& turn);

// The node is heard of again, or its machine has ended: nothing more is charged for it as a lost one. What still runs
// on one that is heard of again is charged as held. False: it was no lost one. `before`: where another machine is heard
// under its name, the one that had it before that has ended.
bool ForgetLostNode(Turn& turn, const std::string& node, bool before = false);

// Lost nodes whose time is over are charged no more. REQUIRES: costs are counted up to now.
void ForgetEndedNodes(Turn& turn, Job& job);

// False: it is over, and nothing of it runs any more, as far as its nodes have said.
bool MayBeCharged(const Job& job);

// After a coordinator start: charges the time that it was away, for all nodes that the job had, as far as their
// machines can have run. Nobody knows of one that is not heard of any more when it ended.
void CountAbsence(Turn& turn, Job& job);

// The job's nodes are from now on those of its members: of a record that did not know them.
void HoldMembers(const State& state, Job& job);

// The machine's clock was set by so many seconds: what the job was counted until, and what was granted, moves with it,
// so that nothing is charged twice or left out, and nothing ends earlier or later.
void FollowClock(double step, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHARGED_NODES_H_
