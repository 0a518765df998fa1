// Keeps account of the slots that a job has given up, until their agents confirm that they know it. Before that, an
// agent may still start the job's trainers there: it may not be heard, or the coordinator's database may be unable to
// save the decision, so that nobody is told. What ran in such a time is charged afterwards.
#ifndef REKINDLE_COORDINATOR_CORE_CHARGES_GIVEN_UP_H_
#define REKINDLE_COORDINATOR_CORE_CHARGES_GIVEN_UP_H_

#include <string>

#include "coordinator/core/charges/charges.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Notes that from now on the job is not charged any more for `part` of a node that is heard of.
void NoteGivenUp(Turn& turn, Job& job, const Charged& node, double part);

// Returns whether any job has given up slots of the node, and its agent has not confirmed that.
bool AwaitsConfirmation(const State& state, const std::string& node);

// Notes in the state what the job's record says of slots that were given up. The caller must call this for each record
// that it adds.
void IndexGivenUp(State& state, const v1::JobRecord& record);

// Takes out of the state what IndexGivenUp() has noted. The caller must call this for each record that it forgets.
void UnindexGivenUp(State& state, const v1::JobRecord& record);

// Takes what the newest report of the node's agent says of the slots that were given up there. If it lists running
// trainers of a job, the job is charged for them since it gave the slots up, and until they stop. `told` says that the
// agent knows the node's present directive. If it lists none then, nothing is owed. Returns whether a job was charged.
bool SettleGivenUp(Turn& turn, const NodeState& node, bool told);

// Charges the job for the time in which it had given up `part` of a node that it has slots of again. Their agent may
// have known neither, and may have run the job's trainers all the time.
void RegainGivenUp(Turn& turn, Job& job, const std::string& node, double part);

// Charges the job for slots that it gave up on nodes that were lost since then, as for nodes that it has lost.
void LoseGivenUp(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHARGES_GIVEN_UP_H_
