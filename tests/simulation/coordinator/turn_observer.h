// Says how a check hears of what the coordinator decides. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_COORDINATOR_TURN_OBSERVER_H_
#define REKINDLE_TESTS_SIMULATION_COORDINATOR_TURN_OBSERVER_H_

#include <functional>
#include <utility>
#include <vector>

#include "coordinator/core/state/events.h"
#include "tests/simulation/world/sim_job.h"

namespace rekindle::core::simulation {

// Holds an event for the coordinator, and what happens once the turn that handles the event is saved.
using Arrived = std::pair<Event, std::function<void()>>;

// A turn holds the events that arrived and what was decided. Nobody is told anything of the turn before it is saved.
struct Turn {
  std::vector<Arrived> arrived;
  Effects effects;
};

// A TurnObserver is told what the coordinator does at the moment when it does it. It does nothing to the coordinator at
// that moment.
class TurnObserver {
 public:
  virtual ~TurnObserver() = default;

  // A process of the coordinator starts. It has not read its records yet.
  virtual void CoordinatorStarts() {}
  // The core is about to handle what has arrived.
  virtual void TurnBegins() {}
  // The core has decided, and nothing is saved yet.
  virtual void TurnDecided(const Turn& /*turn*/) {}
  // The record `now` is about to replace the record `before`, which may be empty.
  virtual void JobSaved(const SimJob& /*job*/, const v1::JobRecord& /*before*/, const v1::JobRecord& /*now*/) {}
  // All records of a turn are saved.
  virtual void TurnSaved(const Effects& /*effects*/) {}
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_COORDINATOR_TURN_OBSERVER_H_
