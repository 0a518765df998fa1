// Policies of today, to compare the planner with. They run a gang: REQUIRES one unit. They know what a start was stated
// to take, not what it really takes, and see what the planner sees otherwise.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_BASELINES_H_
#define REKINDLE_COORDINATOR_SCHEDULER_BASELINES_H_

#include "coordinator/scheduler/plan.h"

namespace rekindle::scheduler {

// On-demand capacity from the first to the last hour.
class OnDemandOnly : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;
};

// Spot capacity where there is some (after an interruption the next zone), else waiting; at the last safe moment it
// changes to on-demand capacity for good. With one spot pool this is the usual greedy policy.
class NextZone : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;
};

// Uniform Progress of Wu et al., "Can't Be Late" (NSDI 2024): spot where there is some, on-demand while progress is
// behind the straight line to the deadline (and until it is two starts ahead of it), on-demand for good when slack
// ends.
class UniformProgress : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_BASELINES_H_
