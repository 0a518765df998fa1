// Changes what the markets of pools give and at which price. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_MARKET_FAULTS_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_MARKET_FAULTS_H_

#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/sim_machines.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A MarketFaults is the markets behind the pools. It needs at least one pool.
class MarketFaults {
 public:
  MarketFaults(World& world, Coordinator& coordinator, Machines& machines)
      : world_(world), coordinator_(coordinator), machines_(machines) {}

  // Changes how many machines the market gives, and takes those that are too many.
  void Change();
  // Changes the price of a pool at once. Until the coordinator has heard of the new price, the running machines cost at
  // least the lower of the two prices.
  void ChangePrice();

 private:
  SimPool& AnyPool();
  void TakeMachine(const std::string& name);

  World& world_;
  Coordinator& coordinator_;
  Machines& machines_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_MARKET_FAULTS_H_
