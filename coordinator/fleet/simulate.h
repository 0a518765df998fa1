// A job on a fleet in virtual time: the planner's own code, over traces.
//
// Each step the clouds take back what they do not let run any more, the strategy plans, starts begin; then the step's
// time passes. A start is paid and works nothing. Those who stay pause at each change of an elastic job.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATE_H_

#include <string>
#include <vector>

#include "coordinator/fleet/world.h"
#include "coordinator/scheduler/plan.h"

namespace rekindle::fleet {

struct SimulatedJob {
  double hours = 0;  // Of work with `max` nodes.
  int min = 1;       // Equal to max: a gang, in one pool at a time.
  int max = 1;
  double deadline = scheduler::kNever;  // Hours from the start.
  double budget = scheduler::kNever;
  double start_hours = 0;  // As stated.
  double pause_hours = 0;
  scheduler::Policy policy;

  bool gang() const { return min == max; }
};

// What may go otherwise than the job file says.
struct Surprises {
  double start_factor = 1;       // Starts really take so many times what was stated.
  double on_demand_refusal = 0;  // Each wish for on-demand capacity is refused for so many hours first.
};

struct Moment {
  double hours = 0;
  std::string text;
};

struct Outcome {
  bool finished = false;
  bool missed = false;  // Not finished by the deadline.
  double cost = 0;
  double finish_hours = 0;
  double useful_hours = 0;  // Node-hours that worked.
  double start_hours = 0;   // Paid node-hours of starts, pauses and waiting for the gang.
  double spot_hours = 0;    // Paid node-hours.
  double on_demand_hours = 0;
  int interruptions = 0;  // Of units.
  int starts = 0;
  double grams = 0;
  double unknown_carbon_hours = 0;  // Paid node-hours in pools of which `grams` knows nothing.
  double over_budget = 0;           // What was spent beyond the budget.
  std::vector<Moment> timeline;     // At most 10,000 moments.
};

// Plays until the job is finished, the world ends, or nothing more can happen. REQUIRES: world.step_hours > 0.
Outcome Simulate(const World& world, const SimulatedJob& job, scheduler::Strategy& strategy,
                 const Surprises& surprises = {});

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATE_H_
