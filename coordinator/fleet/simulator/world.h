// This file holds the world that the simulator plays a job in: a fleet over time, as traces describe it.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_WORLD_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_WORLD_H_

#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::fleet {

// A WorldPool is what a pool has in each step: `available` nodes, at `price` for each node and hour. Both members have
// one value for all steps, or one value for each step.
struct WorldPool {
  std::string name;
  scheduler::Capacity capacity = scheduler::Capacity::kSpot;
  // `speed` is the work that a node of the pool does in an hour.
  double speed = 1;
  std::vector<int> available;
  std::vector<double> price;
  // `grams` is the CO2 that a node of the pool emits in each hour. Its first value is that of `grams_begin` hours
  // before step 0. It is empty where the emissions are not known.
  std::vector<double> grams;
  int grams_begin = 0;

  int Available(int step) const { return available.size() == 1 ? available[0] : available[step]; }
  double Price(int step) const { return price.size() == 1 ? price[0] : price[step]; }
  // Returns what a node of the pool emits in the hour that contains the time `hours` after step 0, in grams.
  double Grams(double hours) const;
};

struct World {
  double step_hours = 0;
  int steps = 0;
  std::vector<WorldPool> pools;

  // Returns the world from step `first` on. `grams` keeps the hours before that step as history.
  World From(int first) const;
};

// Returns the lowest speed of the pools, or 1 where there is no pool.
double LeastSpeed(const std::vector<WorldPool>& pools);

// Returns the grams that a node of the pool is expected to emit in each of `horizon` hours, from the hour that contains
// `hours` on (market/emission_forecast.h). The list is empty when nothing is known.
std::vector<double> ForecastGrams(const WorldPool& pool, double hours, int horizon);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_WORLD_H_
