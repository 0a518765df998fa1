// This file decides which job gets how many slots of which pool, by priority and by the shares and quotas of teams.
//
// A slot holds one worker. Pools count slots, not nodes, so the effort grows only with the number of pools and jobs.
// First every job gets its minimum. The order is by priority, then by what the team uses relative to its share, then by
// submission. After that the jobs of the highest priority grow, one slot a round: first on the fastest slots that are
// there, then on the slots where the work of the job costs least. A job that runs keeps what it has. Only the minimum
// of a job of higher priority takes slots away: first those above the minimums of other jobs, then whole jobs,
// beginning with the lowest priority and the newest. A job that lost nodes and has less than its minimum keeps the
// rest. It gets free slots before the other jobs of its priority, and it takes what newer jobs in the same state have
// left. Otherwise two such jobs could wait for each other for ever.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_
#define REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_

#include <vector>

#include "coordinator/scheduler/demand.h"
#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

enum class Wait {
  kNot,
  // No pool has room for the job's minimum.
  kCapacity,
  // The job's team may not have more nodes.
  kQuota,
  // The job had room, and a job of higher priority took it.
  kPreempted,
};

struct Allotment {
  SlotList slots;
  Wait wait = Wait::kNot;
  // `taken_by` is the last job that took slots from this one.
  int taken_by = kNone;
};

// Returns one allotment for each job. `jobs` must be in order of submission. No pool is given out beyond its slots,
// except for what jobs hold already.
//
// REQUIRES: all pools, teams and jobs that are named exist, and `min` <= `max` for each job.
std::vector<Allotment> ShareOut(const std::vector<Supply>& pools, const std::vector<Team>& teams,
                                const std::vector<Demand>& jobs);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_SHARE_OUT_H_
