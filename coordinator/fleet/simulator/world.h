// This file holds the world that the simulator plays: a fleet over time, as traces describe it.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_WORLD_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_WORLD_H_

#include <vector>

#include "coordinator/scheduler/types.h"

namespace rekindle::fleet {

// A WorldPool is a pool in each step. `available` and `price` have one value for all steps, or one value for each step.
struct WorldPool {
  std::string name;
  scheduler::Capacity capacity = scheduler::Capacity::kSpot;
  // `speed` is the work that a node does there in an hour.
  double speed = 1;
  std::vector<int> available;
  std::vector<double> price;
  // `grams` is the CO2 that a node emits in each hour. It begins `grams_begin` hours before step 0, and is empty where
  // that is not known.
  std::vector<double> grams;
  int grams_begin = 0;

  int Available(int step) const { return available.size() == 1 ? available[0] : available[step]; }
  double Price(int step) const { return price.size() == 1 ? price[0] : price[step]; }
  // Returns the grams of the hour that contains the time `hours` after step 0.
  double Grams(double hours) const;
};

struct World {
  double step_hours = 0;
  int steps = 0;
  std::vector<WorldPool> pools;

  // Returns the world from step `first` on. `grams` keeps what was before, as history.
  World From(int first) const;
};

// Returns the lowest speed of the pools, or 1 where there is no pool.
double LeastSpeed(const std::vector<WorldPool>& pools);

// Returns the expected grams of `horizon` hours, from the one that contains `hours` on (market/emission_forecast.h).
// The list is empty when nothing is known.
std::vector<double> ForecastGrams(const WorldPool& pool, double hours, int horizon);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_WORLD_H_
