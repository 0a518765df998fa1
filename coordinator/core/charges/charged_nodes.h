// Decides which nodes a job is charged for: those that it has slots of, and those that it has lost (lost_charges.h).
#ifndef REKINDLE_COORDINATOR_CORE_CHARGES_CHARGED_NODES_H_
#define REKINDLE_COORDINATOR_CORE_CHARGES_CHARGED_NODES_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Gives the node a new number in `NodeState::charged_as`, by which `ShareNodes` notices that jobs may have to be
// charged otherwise for the node. The caller must call ChangeCharged after the incarnation, the pool or the number of
// slots in the node's record has changed.
void ChangeCharged(State& state, NodeState& node);

// Brings up to date what each job is charged for. The caller must call this after slots were given or taken, or a node
// was lost. A job that is over is charged at once for what its lost nodes may still cost.
void ShareNodes(Turn& turn);

// Takes from the job's record what the job is charged for. After a restart this is known only from the record until
// `ShareNodes` has run, and the first planning cycle needs it: it says for how many more nodes the budget has room.
// REQUIRES: the job's costs are counted up to now, so that nothing is charged twice.
void TakeRecordedShares(const Turn& turn, Job& job);

// Returns false where the job is over and, as far as its nodes have said, none of its trainers runs any more.
bool MayBeCharged(const Job& job);

// Charges the job for the nodes of its members from now on. This is for a job whose record does not say which nodes it
// holds.
void HoldMembers(const State& state, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHARGES_CHARGED_NODES_H_
