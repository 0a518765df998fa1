// This file holds the price book, which says what nodes cost, in the form in which the core gets it. Times are Unix
// seconds, and prices are those of an hour.
#ifndef REKINDLE_COORDINATOR_MARKET_PRICES_H_
#define REKINDLE_COORDINATOR_MARKET_PRICES_H_

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace rekindle::core {

// An hour has `kHour` seconds.
inline constexpr double kHour = 3600;

// A PriceHistory holds prices with the time since when they hold, the oldest first. The first price holds before its
// time, too. An empty history means that the price is not known.
struct PriceSince {
  double from = 0;
  double price = 0;
};
using PriceHistory = std::vector<PriceSince>;

double PriceAt(const PriceHistory& history, double at);
// Returns what one node costs between two times. The result is 0 when the second is not after the first.
double CostBetween(const PriceHistory& history, double from, double until);

struct PoolPrices {
  // `capacity` says how the pool's nodes are sold: "spot" or "on_demand".
  std::string capacity;
  // `devices` is the number of devices of a node.
  int devices = 1;
  PriceHistory price;
  // `on_demand` holds the on-demand prices of the kind of node that the pool has.
  PriceHistory on_demand;
  // `ordered` says that the pool's provider takes orders. The nodes of other pools register without being ordered.
  bool ordered = false;
  // `min` is the number of nodes that a pool that takes orders keeps whatever happens.
  int min = 0;
  // `max` is the largest number of nodes of a pool that takes orders.
  int max = 1000;
  // `start_seconds` is how long a pool that takes orders needs at most from an order to a machine that runs.
  double start_seconds = 300;
  // For a pool whose price has no history, `known_from` is the time when somebody looked up that price. It is 0 where
  // that time is not known.
  double known_from = 0;
  // `heard_at` is the time when the provider last said what the pool costs. It is 0 where it has not said so yet.
  double heard_at = 0;
  // `offer` describes the machines whose price the provider is asked for. It is empty where only the fleet file states
  // the price.
  std::string offer;
  // A price is stale after `stale_after` seconds, or after PriceBook::stale_after if that is less.
  double stale_after = std::numeric_limits<double>::infinity();
  // `on_demand_of` is the pool from which the prices in `on_demand` were copied. It is empty where the fleet file
  // states an on-demand price, or where none is known.
  std::string on_demand_of;
  // `device` is the kind of device that the nodes compute on. It is empty where that is not known.
  std::string device;
  // `carbon_region` is empty where it is not known what the nodes emit.
  std::string carbon_region;
  // `node_watts` is the power that one node draws. Where it is 0, the value in the job's spec counts.
  double node_watts = 0;
  // `instance_type` is the kind of the pool's machines. Where it is empty, no other pool has machines of the same kind.
  std::string instance_type;
  // `speed` is the stated speed of a worker in the pool.
  double speed = 1;
};

struct TeamShare {
  // `share` compares teams: a team with a share of 2 should have twice as many nodes as a team with a share of 1.
  double share = 1;
  // `max_nodes` limits the nodes that the team has at once. 0 means that there is no limit.
  int max_nodes = 0;
};

struct PriceBook {
  // `pools` is sorted by name. It is empty where there is no fleet file.
  std::map<std::string, PoolPrices> pools;
  // `teams` holds the shares of teams by name. A team that is not in it has a share of 1 and no limit.
  std::map<std::string, TeamShare> teams;
  std::string currency;
  // `speeds_stated` says that some pool has a speed other than 1.
  bool speeds_stated = false;
  // A price that has been known for more than `stale_after` seconds is stale.
  double stale_after = std::numeric_limits<double>::infinity();
};

// Returns the pool with the given name, or null where the price book has no such pool.
const PoolPrices* FindPool(const PriceBook& book, const std::string& name);
// Returns whether the price book has a pool with the given name, and that pool's provider takes orders.
bool IsOrdered(const PriceBook& book, const std::string& name);
// Returns the pool's capacity, or "unpriced" for a null pool.
std::string CapacityOf(const PoolPrices* pool);
// Returns since when the price that the pool has at time `at` is known, or 0 where that is not known.
double KnownSince(const PoolPrices& pool, double at);
bool IsStale(const PriceBook& book, const PoolPrices& pool, double at);

// A PriceHeard is what a provider says that a node of a pool costs in an hour.
struct PriceHeard {
  std::string pool;
  double price = 0;
};
// Enters into the book a price that holds from `at` on. Returns false where the book has no such pool or the price has
// not changed. An unchanged price then counts as fresh again.
bool TakePrice(const PriceHeard& heard, double at, PriceBook& book);
// Copies to the new book what providers have said about the price of each offer that is in both books. A fleet file has
// only the first price of such an offer.
void KeepHeard(const PriceBook& before, PriceBook& book);

// Returns a text such as "12.34 USD". An amount below 1 has four digits after the point.
std::string Money(double amount, const std::string& currency);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_MARKET_PRICES_H_
