// A fleet over time, as traces tell it: what the simulator plays.
#ifndef REKINDLE_COORDINATOR_FLEET_WORLD_H_
#define REKINDLE_COORDINATOR_FLEET_WORLD_H_

#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::fleet {

inline constexpr double kDefaultNodeWatts = 500;  // Where neither pool nor job says what a node draws.

// A pool in each step. `available`, `price`: one value for ever, or one a step.
struct WorldPool {
  std::string name;
  scheduler::Capacity capacity = scheduler::Capacity::kSpot;
  double speed = 1;  // Work of a node there in an hour.
  std::vector<int> available;
  std::vector<double> price;
  std::vector<double> grams;  // CO2 of a node in each hour, from `grams_begin` hours before step 0; empty: not known.
  int grams_begin = 0;

  int Available(int step) const { return available.size() == 1 ? available[0] : available[step]; }
  double Price(int step) const { return price.size() == 1 ? price[0] : price[step]; }
  // In the hour that `hours` after step 0 is in.
  double Grams(double hours) const;
};

struct World {
  double step_hours = 0;
  int steps = 0;
  std::vector<WorldPool> pools;

  // The same from step `first` on; grams keep what was before, as history.
  World From(int first) const;
};

// 1: there is no pool.
double LeastSpeed(const std::vector<WorldPool>& pools);

// What the hours after now are expected to emit: as the same hour in the days before, the newest counting most, scaled
// by how this day compares so far. Index 0 is the hour of `hours`; empty when nothing is known.
std::vector<double> ForecastGrams(const WorldPool& pool, double hours, int horizon);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_WORLD_H_
