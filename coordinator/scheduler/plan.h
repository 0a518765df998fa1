// This file declares the planner, which decides where each unit of a job runs from now on, and says why.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_PLAN_H_
#define REKINDLE_COORDINATOR_SCHEDULER_PLAN_H_

#include <string>
#include <vector>

#include "coordinator/scheduler/outlook.h"
#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// A Strategy is one way to plan: the coordinator's own planner, or one of those it is compared with (baselines.h). It
// is thread-compatible.
class Strategy {
 public:
  virtual ~Strategy() = default;
  // Returns the changes to make. Units for which no change is returned stay where they are. No change puts more units
  // into a pool than have room there.
  //
  // REQUIRES: each unit's pool has room for it (interrupted units were taken out before), and `job.history` has
  // observed `pools`.
  virtual std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                                   double now) = 0;
};

// The planner runs on spot capacity as long as it can still change to on-demand capacity in time, and waits where
// waiting is expected to cost less. It keeps the deadline with a margin, and keeps the budget by stopping. Its answer
// depends only on its arguments: the tables that it caches change no answer.
class Planner : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;

  // Returns why the last plan stopped all units at once, or did not start them. The text is empty where it did neither.
  const std::string& waits() const { return waits_; }

 private:
  OutlookCache outlooks_;
  std::string waits_;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_PLAN_H_
