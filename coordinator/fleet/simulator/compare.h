// This file simulates one job under every policy, for `rekindle simulate`.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_COMPARE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_COMPARE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/simulate.h"

namespace rekindle::fleet {

struct PolicyOutcome {
  std::string policy;
  std::string meaning;
  // `left_out` says why the policy was not played. It is empty where the policy was played. Otherwise the members below
  // it mean nothing.
  std::string left_out;
  // For the policy `optimum`, only the cost of `outcome` counts.
  Outcome outcome;
  // Where the budget ends the job, `needs` is what the job costs without a budget. It is 0 where the job does not
  // finish without one either.
  double needs = 0;
};

// Returns the names of all policies: "planner", and those that it is compared with, which are "on_demand",
// "greedy_spot" (in the spot pool with most capacity), "next_zone", "uniform_progress" and "optimum".
std::vector<std::string> Policies();

// Plays the policies that `names` lists, in that order, or all where it is empty. The policies from "on_demand" to
// "uniform_progress", which are those of today, run a gang of `max` nodes, and know neither the budget nor the job's
// `capacity`. They are left out for a fleet without on-demand pools. The optimum is left out for a world that is too
// large for it. INVALID_ARGUMENT says that a name is not known.
absl::StatusOr<std::vector<PolicyOutcome>> Compare(const World& world, const FleetJob& job,
                                                   const std::vector<std::string>& names);

// Returns what the figures of a comparison do not contain, one sentence each. The sentences concern pools without
// carbon data.
std::vector<std::string> Caveats(const World& world, const FleetJob& job);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_COMPARE_H_
