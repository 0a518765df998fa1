// One planning cycle for all jobs: ShareOut says how much each may have, then its own planner, the simulator's, decides
// what of it to order where: spot, on demand, or wait.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_CYCLE_H_
#define REKINDLE_COORDINATOR_SCHEDULER_CYCLE_H_

#include <string>
#include <vector>

#include "coordinator/scheduler/plan.h"
#include "coordinator/scheduler/share_out.h"

namespace rekindle::scheduler {

struct FleetView {
  std::vector<Supply> pools;     // Those that take orders first.
  std::vector<PoolView> orders;  // Of these, with prices; `available`, speed and carbon are set here.
  std::vector<Team> teams;
};

// What a node's worth of a slot emits in a pool: PoolView::grams and expected_grams.
struct Emission {
  double grams = 0;
  std::vector<double> expected;
};

// What a job's planner keeps between cycles; no answer depends on it. Thread-compatible.
struct PlanMemory {
  Planner planner;
  bool settled = false;  // With the following nothing was to change.
  std::vector<int> available;
  std::vector<double> prices, speeds;
  std::vector<UnitView> units;
  double hours = 0;
  std::string waits;
};

struct CycleJob {
  Demand demand;
  // Of those that may have nodes ordered for them, else null. Units are those in ordered pools; total_hours and
  // hours_left are of `demand.max` nodes of speed 1. Its history observes what this cycle sees.
  JobView* view = nullptr;
  Policy policy;
  double hours = 0;  // Since its submit.
  PlanMemory* memory = nullptr;
  const std::vector<Emission>* emissions = nullptr;  // Of `fleet.orders`. REQUIRED where its objective is kGreenest.
};

struct JobPlan {
  Allotment allotment;
  std::vector<UnitView> units;  // In ordered pools, of the allotment; those that do not run yet are kNone.
  std::vector<Action> actions;  // That made them so; `unit` indexes `units`.
  std::string waits;            // Why all of them wait although there is room; empty: they do not.
};

// One for each job, as ShareOut. `fleet.orders` is scratch.
std::vector<JobPlan> PlanCycle(FleetView& fleet, const std::vector<CycleJob>& jobs);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_CYCLE_H_
