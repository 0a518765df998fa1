// Says how a check hears of what happens in the world beside the coordinator. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_OBSERVER_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_OBSERVER_H_

#include <string>

#include "tests/simulation/world/fabric.h"
#include "tests/simulation/world/sim_job.h"
#include "tests/simulation/world/sim_process.h"

namespace rekindle::core::simulation {

// An Observer is told what happens at the moment when it happens. It changes nothing but what it keeps for itself.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void ProcessStarted(const Process& /*process*/) {}
  // The process is about to end and still counts as alive.
  virtual void ProcessEnds(const Process& /*process*/) {}
  // The process is about to be stopped because `who` wants that.
  virtual void ProcessIsStopped(const Process& /*process*/, const std::string& /*who*/) {}
  // What the machines of a pool cost, or may be charged at, is about to change.
  virtual void PriceChanges() {}
  // The members have reduced the step and are about to apply it.
  virtual void StepReduced(const SimJob& /*job*/, const Fabric& /*fabric*/, int /*step*/) {}
  // The process begins to apply the step.
  virtual void StepApplied(const Process& /*process*/, int /*generation*/, int /*step*/) {}
  // The user of a job without a record looks for it, as happens each second. `is_found` says that the coordinator knows
  // that the job lives.
  virtual void JobIsMissed(const SimJob& /*job*/, bool /*is_found*/) {}
  // The user is about to submit the job anew, and whatever was true of the old job counts no more.
  virtual void JobIsNew(const SimJob& /*job*/) {}
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_OBSERVER_H_
