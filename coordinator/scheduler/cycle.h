// This file makes one planning cycle for all jobs. ShareOut says how many slots each job may have. Then each job's own
// planner, which the simulator uses, too, decides what to order for the job: spot nodes, on-demand nodes, or nothing
// yet.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_CYCLE_H_
#define REKINDLE_COORDINATOR_SCHEDULER_CYCLE_H_

#include <string>
#include <vector>

#include "coordinator/scheduler/demand.h"
#include "coordinator/scheduler/plan.h"
#include "coordinator/scheduler/share_out.h"

namespace rekindle::scheduler {

struct FleetView {
  // In `pools`, the pools that take orders come first.
  std::vector<Supply> pools;
  // `orders` describes those pools that take orders, with their prices. The cycle sets `available`, the speed and the
  // emissions.
  std::vector<PoolView> orders;
  std::vector<Team> teams;
};

// An Emission is the CO2 that a node emits in a pool, divided by the node's slots: `grams` now, and `expected` in each
// hour from now on, like the fields of PoolView.
struct Emission {
  double grams = 0;
  std::vector<double> expected;
};

// PlanMemory is what a job's planner keeps between cycles. It saves time, and no plan depends on it. It is
// thread-compatible.
struct PlanMemory {
  Planner planner;
  // `settled` says that the last plan made no change. The members from `available` to `hours` are what it was made
  // from.
  bool settled = false;
  std::vector<int> available;
  std::vector<double> prices, speeds;
  std::vector<UnitView> units;
  double hours = 0;
  std::string waits;
};

struct CycleJob {
  Demand demand;
  // `view` is null for jobs that may not have nodes ordered for them. Its units are those in ordered pools. Its
  // `total_hours` and `hours_left` are hours of `demand.max` nodes of speed 1. PlanCycle adds the capacity that it sees
  // to the history of `view`.
  JobView* view = nullptr;
  Policy policy;
  // `hours` is the time since the job was submitted.
  double hours = 0;
  PlanMemory* memory = nullptr;
  // `emissions` has an entry for each pool of `fleet.orders`. It must be set where the job's objective is `kGreenest`.
  const std::vector<Emission>* emissions = nullptr;
};

struct JobPlan {
  Allotment allotment;
  // A unit is a number of nodes (JobView::unit_nodes) that the planner orders and moves together. `units` are the job's
  // units in pools that take orders for machines. A unit that does not run yet has the pool `kNone`.
  std::vector<UnitView> units;
  // `actions` are the changes that led to `units`. Their `unit` is an index into `units`.
  std::vector<Action> actions;
  // `waits` says why all units of the job wait although pools have room for them. It is empty if the units do not wait.
  std::string waits;
};

// Returns one plan for each job, in the order of `jobs`. The call overwrites parts of `fleet.orders`.
std::vector<JobPlan> PlanCycle(FleetView& fleet, const std::vector<CycleJob>& jobs);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_CYCLE_H_
