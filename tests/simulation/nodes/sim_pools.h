// Models providers whose pools take orders. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_SIM_POOLS_H_
#define REKINDLE_TESTS_SIMULATION_NODES_SIM_POOLS_H_

#include <string>

#include "coordinator/market/pool_orders.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/sim_machines.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Pools is the providers of all pools. A provider fulfils orders late or in part, and reports what it has.
class Pools {
 public:
  Pools(World& world, Coordinator& coordinator, Machines& machines)
      : world_(world), coordinator_(coordinator), machines_(machines) {}

  // Takes the coordinator's order to the provider, unless the coordinator dies before. The order is lost then, which
  // does no harm, because the next one contains the whole desired state again.
  void Take(const PoolOrder& order);
  // Lets the provider work at the order and report again and again.
  void Loop(const std::string& name);

 private:
  // Makes or ends machines until the pool matches its order. If fewer machines are wanted, those that the order names
  // end first, and then the newest ones.
  void Fulfil(SimPool& pool);
  void MakeMachine(SimPool& pool);
  void Report(SimPool& pool);

  World& world_;
  Coordinator& coordinator_;
  Machines& machines_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_SIM_POOLS_H_
