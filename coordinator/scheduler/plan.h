// The planner: where each unit of a job is to run from now on, and why.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_PLAN_H_
#define REKINDLE_COORDINATOR_SCHEDULER_PLAN_H_

#include <string>
#include <vector>

#include "coordinator/scheduler/outlook.h"
#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// One way to plan: the planner of the coordinator, and those it is compared with (baselines.h). Thread-compatible.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // What is to change; units not named stay. Never more units in a pool than have room there.
  // REQUIRES: each unit's pool has room for it (the interrupted ones were taken out), and `job.history` has seen
  // `pools`.
  virtual std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                                   double now) = 0;
};

// Runs on spot capacity while it can still change to on-demand capacity in time, waits where that is expected to cost
// less, keeps the deadline with a margin and the budget by stopping. A pure function of its arguments: the tables it
// keeps change no answer.
class Planner : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;

  // Why the last plan stopped, or has not started, all units at once; empty: it has not.
  const std::string& waits() const { return waits_; }

 private:
  OutlookCache outlooks_;
  std::string waits_;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_PLAN_H_
