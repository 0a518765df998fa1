// What a job is expected to cost where nobody can know what capacity there will be: its outcomes in several worlds.
#ifndef REKINDLE_COORDINATOR_FLEET_ESTIMATE_H_
#define REKINDLE_COORDINATOR_FLEET_ESTIMATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/compare.h"
#include "coordinator/fleet/trace.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::fleet {

struct Spread {
  double low = 0;
  double middle = 0;  // The median.
  double high = 0;
};

// Of one policy. Spreads are over the worlds in which the job finishes.
struct Estimate {
  std::string policy;
  std::string meaning;
  std::string left_out;  // Why it was not played; then the rest says nothing.
  int worlds = 0;        // Played.
  int unfinished = 0;
  int missed = 0;       // Of the deadline, those unfinished among them.
  int over_budget = 0;  // Of worlds.
  Spread needs;         // Cost without the budget, where that ends the job; 0: nowhere.
  Spread cost;
  Spread finish_hours;
  Spread interruptions;
  Spread kg_co2;
  bool carbon_known = false;  // Of all node-hours, in all worlds.
};

// The planner, and on-demand capacity only. FAILED_PRECONDITION: in no world can the deadline and the budget be kept;
// why it is so in the last. REQUIRES: at least one world.
absl::StatusOr<std::vector<Estimate>> EstimateOver(const std::vector<World>& worlds, const SimulatedJob& job);

// The same traces from up to `count` moments on, evenly spaced, each with time enough for the job: one where the traces
// are no longer than that.
std::vector<World> FromSeveralStarts(const World& world, const SimulatedJob& job, int count);

// `count` worlds of made-up spot capacity (synthetic.h), from seeds `seed` on, around the prices of the fleet; `carbon`
// holds traces of carbon alone. Errors of MakeWorld.
absl::StatusOr<std::vector<World>> SyntheticWorlds(const v1::Fleet& fleet, const SimulatedJob& job,
                                                   const std::vector<Trace>& carbon, double node_watts, uint64_t seed,
                                                   int count);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_ESTIMATE_H_
