// Defines a provider's pool and the market behind it as plain values. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_POOL_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_POOL_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/market/pool_orders.h"
#include "coordinator/market/prices.h"
#include "tests/simulation/schedules/schedule_options.h"

namespace rekindle::core::simulation {

// Models a provider's pool and the market behind it.
struct SimPool {
  PoolOptions options;
  // `offered` is the largest number of machines that the market gives now.
  int offered = 0;
  bool says_when_short = false;
  bool says_what_ended = true;
  PoolOrder order;
  // `made` is the number of machines that were made so far.
  int made = 0;
  // `machines` names the machines that exist or are being made.
  std::set<std::string> machines;
  // `dead` names those machines that run but never register a node.
  std::set<std::string> dead;
  // `answered` says that the provider has answered the newest order.
  bool answered = true;
  // `reported` is the number of machines in the provider's last report. It is -1 if the provider has sent no report
  // since the coordinator started.
  int reported = -1;
  // `ended` has the machines that the provider's last report calls ended, and `told` all that it names.
  std::vector<std::string> ended;
  std::vector<PoolMachine> told;
  PriceHistory prices;
  // `least_price` is the lowest price of a machine per hour that the coordinator may charge now.
  double least_price = 0;
  // `highest_price` is the highest price of a machine per hour that the pool has had so far.
  double highest_price = 0;
};

// Returns the prices of all pools: those that the fleet file states, and those that were heard from providers since.
PriceBook PricesOf(const std::map<std::string, SimPool>& pools);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_POOL_H_
