// One job under every policy: what `rekindle simulate` prints.
#ifndef REKINDLE_COORDINATOR_FLEET_COMPARE_H_
#define REKINDLE_COORDINATOR_FLEET_COMPARE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulate.h"

namespace rekindle::fleet {

struct PolicyOutcome {
  std::string policy;
  std::string meaning;
  std::string left_out;  // Why it was not played; then the rest says nothing.
  Outcome outcome;       // Of `optimum`, cost alone.
  double needs = 0;      // Where the budget ends the job: what it costs without one; 0: it does not finish either.
};

// "planner", and those it is compared with: "on_demand", "greedy_spot" (in the spot pool that has most), "next_zone",
// "uniform_progress", "optimum".
std::vector<std::string> Policies();

// Those named, in that order; all where `names` is empty. Today's policies run a gang of `max` nodes, and know neither
// the budget nor the job's `capacity`; they are left out of a fleet without on-demand pools, the optimum of a world
// that is too large for it. INVALID_ARGUMENT: an unknown name.
absl::StatusOr<std::vector<PolicyOutcome>> Compare(const World& world, const SimulatedJob& job,
                                                   const std::vector<std::string>& names);

// What the figures do not know, a sentence each: pools without carbon data.
std::vector<std::string> Caveats(const World& world, const SimulatedJob& job);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_COMPARE_H_
