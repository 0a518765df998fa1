// Models how a trainer holds its lease, following worker/train/control/lease.cc. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_TRAINERS_LEASES_H_
#define REKINDLE_TESTS_SIMULATION_TRAINERS_LEASES_H_

#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Takes the lease of the process from an answer of the coordinator, unless the answer only asks for the process's
// membership. `sent` is when the process sent its question, by its own clock.
void TakeLease(Process& process, const Answer& answer, double sent);

// Returns whether the process may rely on a lease. What another rank said of its lease counts only for a moment,
// because a machine may have slept since.
bool IsFresh(const World& world, const Process& process, int generation);

// A LeaseAsker lets processes ask for their leases again and again, independently of their reports.
class LeaseAsker {
 public:
  LeaseAsker(World& world, Coordinator& coordinator) : world_(world), coordinator_(coordinator) {}

  void Loop(const std::string& id);

 private:
  // Asks for the lease of the process, which is in `generation`.
  void Ask(const Process& process, int generation);

  World& world_;
  Coordinator& coordinator_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_TRAINERS_LEASES_H_
