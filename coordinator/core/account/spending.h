// Decides until when a job may spend without word from the coordinator, and for how many more nodes its budget then has
// room. What the job's nodes cost until then is reserved before they are told of it. Nodes that are cut off may use it,
// and nobody else may.
//
// A grant belongs to the whole job, not to a node: the ranks go on while one of them knows of a grant that holds. A
// grant is never taken back, because a node that is cut off would not hear of it. So at most a quarter of what is left
// is granted at a time. Then lost nodes can be replaced, and more nodes can come.
#ifndef REKINDLE_COORDINATOR_CORE_ACCOUNT_SPENDING_H_
#define REKINDLE_COORDINATOR_CORE_ACCOUNT_SPENDING_H_

#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Returns for how many seconds a machine of the pool may run without a coordinator. It is 0 where there is no limit, as
// for machines that nobody has ordered.
double AloneSeconds(const State& state, const std::string& pool);

// Renews the job's grant once a part of it is used up. REQUIRES: the job's costs are counted up to now.
void GrantSpending(Turn& turn, Job& job);

// Returns what is left of the job's budget, less what its lost nodes may still cost. REQUIRES: the job has a budget.
double BudgetLeft(const State& state, const Job& job, double unix_now);
// Returns what the job's nodes cost an hour, without the lost ones.
double LivingRate(const State& state, const Job& job, double unix_now);

// Returns what a slot costs an hour where it is cheapest for the job. It is 0 where no pool is fit for the job.
double LowestPrice(const State& state, const Job& job, double unix_now);
// Returns for how many more slots that cost `price` an hour the job's budget has room, until the job's spending grant
// ends.
int RoomForSlots(const Turn& turn, const Job& job, double price);
// Returns the same as `NeededForSlots` for a job whose spending grant has ended: less than this is no use to it.
double LeastForSlots(const State& state, const Job& job, double unix_now, double price, int slots);
// Brings `budget_room` of the job up to date, after which the job is planned. While the job holds the same nodes at the
// same prices under the same grant, the room would grow with each second, as the end of the grant comes nearer. This is
// no news: what is decided must not depend on when somebody happens to look. The next grant comes soon.
void CountRoom(const Turn& turn, Job& job);
// Returns how much of the job's budget has to be left so that it has room for `slots` more slots that cost `price` an
// hour.
double NeededForSlots(const Turn& turn, const Job& job, double price, int slots);

// Returns until when the jobs that have slots of the node may spend, in Unix seconds. The earliest of the jobs' times
// counts. It is infinite where no limit was granted. It is also infinite where nobody has ordered the node's machine,
// as such a machine does not end itself.
double SpendUntil(const State& state, const NodeState& node);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_ACCOUNT_SPENDING_H_
