// This file holds today's usual policies, to compare the planner with. They run a gang, so the job must have exactly
// one unit. They know only how long a start was stated to take, not how long it really takes. Otherwise they see what
// the planner sees.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_BASELINES_H_
#define REKINDLE_COORDINATOR_SCHEDULER_BASELINES_H_

#include "coordinator/scheduler/plan.h"

namespace rekindle::scheduler {

// OnDemandOnly uses on-demand capacity from the first to the last hour.
class OnDemandOnly : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;
};

// NextZone uses spot capacity where there is some, and waits otherwise. After an interruption it looks for capacity in
// the next zone first. At the last safe moment it changes to on-demand capacity for good. With one spot pool this is
// the usual greedy policy.
class NextZone : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;
};

// UniformProgress is the policy of that name by Wu et al., "Can't Be Late" (NSDI 2024). It uses spot capacity where
// there is some. It uses on-demand capacity while progress is behind the straight line to the deadline, and until it is
// two starts ahead of that line. When the slack ends, it stays on demand for good.
class UniformProgress : public Strategy {
 public:
  std::vector<Action> Plan(const JobView& job, const std::vector<PoolView>& pools, const Policy& policy,
                           double now) override;
};

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_BASELINES_H_
