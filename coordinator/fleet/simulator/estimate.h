// This file estimates what a job costs where nobody can know what capacity there will be. It simulates the job in
// several worlds.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_ESTIMATE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_ESTIMATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/compare.h"
#include "coordinator/fleet/simulator/trace.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

struct Spread {
  double low = 0;
  // `middle` is the median of the values of which `low` is the least and `high` is the greatest.
  double middle = 0;
  double high = 0;
};

// An Estimate is what one policy is expected to achieve. Its spreads show how the values differ between the worlds in
// which the job finishes.
struct Estimate {
  std::string policy;
  std::string meaning;
  // `left_out` says why the policy was not played. It is empty where the policy was played. Otherwise the members below
  // it mean nothing.
  std::string left_out;
  // `worlds` is the number of worlds in which the policy was played.
  int worlds = 0;
  int unfinished = 0;
  // `missed` counts the worlds in which the deadline is missed, including those in which the job does not finish.
  int missed = 0;
  // `over_budget` counts the worlds in which the budget is exceeded.
  int over_budget = 0;
  // `needs` is what the job costs without a budget, over the worlds in which the budget ends the job. It is 0 where
  // there is no such world.
  Spread needs;
  Spread cost;
  Spread finish_hours;
  Spread interruptions;
  Spread kg_co2;
  // `carbon_known` says that the emissions of all node-hours in all worlds are known.
  bool carbon_known = false;
};

// Estimates the planner, and the policy that uses only on-demand capacity. FAILED_PRECONDITION says that the deadline
// and the budget cannot be kept in any world, and why that is so in the last one. REQUIRES: there is at least one
// world.
absl::StatusOr<std::vector<Estimate>> EstimateOver(const std::vector<World>& worlds, const FleetJob& job);

// Returns worlds that begin at up to `count` evenly spaced moments of the traces of `world`, each with enough time for
// the job. Returns one world where the traces are not longer than the job needs.
std::vector<World> FromSeveralStarts(const World& world, const FleetJob& job, int count);

// Returns `count` worlds of synthetic spot capacity (synthetic.h), with seeds from `seed` on and prices around those of
// the fleet. `carbon` holds only traces of carbon. Errors are those of MakeWorld.
absl::StatusOr<std::vector<World>> SyntheticWorlds(const v1::Fleet& fleet, const FleetJob& job,
                                                   const std::vector<Trace>& carbon, double node_watts, uint64_t seed,
                                                   int count);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_ESTIMATE_H_
