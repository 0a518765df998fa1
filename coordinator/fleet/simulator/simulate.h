// This file plays a job on a fleet in virtual time. It runs the planner's own code over traces.
//
// At the beginning of a step the clouds take back the machines that they do not let run any more. Then the strategy
// plans, and units of the job start. Then the step's time passes. A start is paid for and does no work. At each change
// of an elastic job, the nodes that stay pause.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_SIMULATE_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_SIMULATE_H_

#include <string>
#include <vector>

#include "coordinator/fleet/simulator/world.h"
#include "coordinator/scheduler/plan.h"

namespace rekindle::fleet {

// A FleetJob is what a job asks of a fleet: how much work, by when and for how much.
struct FleetJob {
  // `hours` is how long the work takes with `max` nodes.
  double hours = 0;
  // Where `min` equals `max`, the job is a gang, which is in one pool at a time.
  int min = 1;
  int max = 1;
  // `deadline` is in hours from the start of the job.
  double deadline = scheduler::kNever;
  double budget = scheduler::kNever;
  // `start_hours` is how long a start of nodes takes, according to the job file.
  double start_hours = 0;
  double pause_hours = 0;
  scheduler::Policy policy;

  bool gang() const { return min == max; }
};

// Surprises are what may differ from what the job file states.
struct Surprises {
  // Starts really take `start_factor` times the time that the job file states.
  double start_factor = 1;
  // Each request for on-demand capacity is first refused for `on_demand_refusal` hours.
  double on_demand_refusal = 0;
};

struct Moment {
  double hours = 0;
  std::string text;
};

struct Outcome {
  bool finished = false;
  // `missed` says that the job did not finish by the deadline.
  bool missed = false;
  double cost = 0;
  double finish_hours = 0;
  // `useful_hours` are the node-hours that did work for the job.
  double useful_hours = 0;
  // `start_hours` are paid node-hours of starts, of pauses and of waiting for the gang.
  double start_hours = 0;
  // `spot_hours` and `on_demand_hours` are paid node-hours.
  double spot_hours = 0;
  double on_demand_hours = 0;
  // `interruptions` counts how often a unit of the job lost its place in a pool.
  int interruptions = 0;
  int starts = 0;
  double grams = 0;
  // `unknown_carbon_hours` are the paid node-hours in pools whose emissions are not known. `grams` does not contain
  // them.
  double unknown_carbon_hours = 0;
  // `over_budget` is how much was spent beyond the budget.
  double over_budget = 0;
  // `timeline` has at most 10,000 moments.
  std::vector<Moment> timeline;
};

// Plays the job until it has finished or the world ends. REQUIRES: world.step_hours > 0.
Outcome Simulate(const World& world, const FleetJob& job, scheduler::Strategy& strategy,
                 const Surprises& surprises = {});

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_SIMULATE_H_
