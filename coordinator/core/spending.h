// Until when a job may spend without word from the coordinator, and what that leaves for more nodes. What its nodes
// cost until then is reserved before they are told: those that are cut off may use it, and nobody else.
//
// A grant is the whole job's, not a node's: the ranks go on while one of them knows of a grant that holds. It is never
// taken back, as a node that is cut off would not hear of it. So at most a quarter of what is left is granted at a
// time: nodes that are lost can then be replaced, and more nodes can come.
#ifndef REKINDLE_COORDINATOR_CORE_SPENDING_H_
#define REKINDLE_COORDINATOR_CORE_SPENDING_H_

#include "coordinator/core/state.h"

namespace rekindle::core {

// How long a machine of that pool may run without a coordinator. 0: for ever, as for those that nobody has ordered.
double AloneSeconds(const State& state, const std::string& pool);

// Renews the job's grant where a part of it is used up. REQUIRES: costs are counted up to now.
void GrantSpending(Turn& turn, Job& job);

// What is left of the budget of a job that has one, less what its lost nodes may still cost.
double BudgetLeft(const State& state, const Job& job, double unix_now);
// What its other nodes cost an hour.
double LivingRate(const State& state, const Job& job, double unix_now);

// What a slot costs an hour where it is cheapest for the job. 0: no pool is for it.
double LowestPrice(const State& state, const Job& job, double unix_now);
// For how many more slots at that price its budget has room, until the grant ends.
int RoomForSlots(const Turn& turn, const Job& job, double price);
// How much has to be left of the budget so that there is room for so many.
double NeededForSlots(const Turn& turn, const Job& job, double price, int slots);

// Unix seconds until when the jobs that have slots of the node may spend: the earliest. Infinite: no limit was granted,
// or nobody has ordered the node's machine, so that it does not end itself.
double SpendUntil(const State& state, const NodeState& node);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_SPENDING_H_
