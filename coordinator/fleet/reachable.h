// What a job could reach at best: whether its deadline and its budget can be kept at all.
#ifndef REKINDLE_COORDINATOR_FLEET_REACHABLE_H_
#define REKINDLE_COORDINATOR_FLEET_REACHABLE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/fleet/simulate.h"

namespace rekindle::fleet {

// The pools that the job's `capacity` lets it use.
World AllowedTo(const SimulatedJob& job, const World& world);

struct Finish {
  double hours = scheduler::kNever;  // The world ends before.
  double cost = 0;                   // Of a plan that is done then, about.
};

// With perfect knowledge of the traces, on the pools that the job may use, whatever the deadline and the budget: of a
// gang exact; of an elastic job a bound, with as many nodes as could work at once, their moves for nothing.
Finish EarliestFinish(const World& world, const SimulatedJob& job);

// The least that the job costs with perfect knowledge, on the pools that it may use. RESOURCE_EXHAUSTED: see optimum.h.
absl::StatusOr<double> LeastCost(const World& world, const SimulatedJob& job);

// OK where the deadline can be kept at all. FAILED_PRECONDITION: the earliest finish and what it costs.
absl::Status CheckDeadline(const World& world, const SimulatedJob& job);

// OK where the deadline and the budget can be kept at all. FAILED_PRECONDITION: the earliest finish and what it costs,
// or the least budget that would do.
absl::Status CheckReachable(const World& world, const SimulatedJob& job);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_REACHABLE_H_
