// This file makes pools comparable whose nodes are not equally fast. It converts their hours and prices, so that a plan
// compares what the same work takes and costs in each.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_LEVEL_H_
#define REKINDLE_COORDINATOR_SCHEDULER_LEVEL_H_

#include <functional>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

// Speeds are measured and so not exact. Pools whose speeds differ by less than the factor `kAsFast` count as equally
// fast.
inline constexpr double kAsFast = 1.1;

// Returns whether all pools have speed 1, so that there is nothing to make comparable.
bool AreLevel(const std::vector<PoolView>& pools);

// Returns the speed of the capacity to which the job would change when its deadline is in danger. It is the mean speed
// of all units if they ran in the on-demand pools with room whose work costs least, among those that are fast enough
// for the deadline. Where the job takes only spot capacity, or there are no on-demand pools, spot pools count instead.
// Returns 1 where there are no pools.
double Yardstick(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed, double now);

// Converts the job and the pools to hours of a node of speed `yardstick`. Prices and emissions become those of the work
// that such a node does in an hour, and speeds become relative to `yardstick`.
void Level(double yardstick, JobView* job, std::vector<PoolView>* pools);

// Calls `plan` with the job and the pools as Level converts them to their Yardstick, and returns the answer of `plan`.
using LevelPlan = std::function<std::vector<Action>(const JobView&, const std::vector<PoolView>&)>;
std::vector<Action> PlanOnLevel(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed, double now,
                                const LevelPlan& plan);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_LEVEL_H_
