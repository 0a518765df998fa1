// Pools whose nodes are not equally fast, made comparable: a plan weighs hours and prices of the same work.
#ifndef REKINDLE_COORDINATOR_SCHEDULER_LEVEL_H_
#define REKINDLE_COORDINATOR_SCHEDULER_LEVEL_H_

#include <functional>
#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::scheduler {

inline constexpr double kAsFast = 1.1;  // Speeds are measured: less makes no difference.

// Are all of speed 1, so that there is nothing to do?
bool AreLevel(const std::vector<PoolView>& pools);

// The speed of the capacity that would have to save the deadline: the mean of all units, were they in the on-demand
// pools (where there are none: in the spot pools) with room whose work costs least, of those that are fast enough. 1:
// there are no pools.
double Yardstick(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed, double now);

// In hours of that speed: prices and emissions of the work that it does in one, the job's hours, speeds against it.
void Level(double yardstick, JobView* job, std::vector<PoolView>* pools);

// What `plan` answers of the job and the pools in hours of their yardstick.
using LevelPlan = std::function<std::vector<Action>(const JobView&, const std::vector<PoolView>&)>;
std::vector<Action> PlanOnLevel(const JobView& job, const std::vector<PoolView>& pools, Allowed allowed, double now,
                                const LevelPlan& plan);

}  // namespace rekindle::scheduler

#endif  // REKINDLE_COORDINATOR_SCHEDULER_LEVEL_H_
