// What nodes cost: the price book as the core sees it. Plain values; time is Unix seconds, prices are an hour's.
#ifndef REKINDLE_COORDINATOR_CORE_PRICES_H_
#define REKINDLE_COORDINATOR_CORE_PRICES_H_

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace rekindle::core {

inline constexpr double kHour = 3600;  // Seconds.

// Prices by the time since when they hold, the oldest first; the first holds before, too. Empty: not known.
struct PriceSince {
  double from = 0;
  double price = 0;
};
using PriceHistory = std::vector<PriceSince>;

double PriceAt(const PriceHistory& history, double at);
// What one node costs between two times; 0 when the second is not after the first.
double CostBetween(const PriceHistory& history, double from, double until);

struct PoolPrices {
  std::string capacity;  // "spot" or "on_demand".
  int devices = 1;       // Of a node.
  PriceHistory price;
  PriceHistory on_demand;      // Of the same node.
  bool ordered = false;        // Its provider takes orders; else its nodes come by themselves.
  int min = 0;                 // Nodes, where it does: kept whatever happens,
  int max = 1000;              // and at most.
  double start_seconds = 300;  // The same: from an order to a machine that runs, at most.
  double known_from = 0;       // When prices without a history were looked up; 0: not known.
  double heard_at = 0;         // When its provider last said what it costs; 0: it has not.
  std::string offer;           // Whose price its provider is asked for, in words; empty: the fleet file alone tells it.
  double stale_after = std::numeric_limits<double>::infinity();  // Seconds; beside the book's.
  std::string on_demand_of;   // The pool whose prices `on_demand` repeats; empty: stated, or not known.
  std::string device;         // What its nodes compute on; empty: not known.
  std::string carbon_region;  // Empty: what its nodes emit is not known.
  double node_watts = 0;      // That one draws; 0: as the job says.
  std::string instance_type;  // Empty: its machines are of a kind of their own.
  double speed = 1;           // Stated, of a worker there.
};

struct TeamShare {
  double share = 1;   // Of what all teams have together, against that of others.
  int max_nodes = 0;  // At once; 0: no limit.
};

struct PriceBook {
  std::map<std::string, PoolPrices> pools;  // By name. Empty: there is no fleet file.
  std::map<std::string, TeamShare> teams;   // Others have a share of 1 and no limit.
  std::string currency;
  bool speeds_stated = false;                                    // A pool's speed is not 1.
  double stale_after = std::numeric_limits<double>::infinity();  // Seconds.
};

// Null when the book has no such pool.
const PoolPrices* FindPool(const PriceBook& book, const std::string& name);
// Does the book have that pool, and does its provider take orders?
bool IsOrdered(const PriceBook& book, const std::string& name);
// "unpriced" of a null pool.
std::string CapacityOf(const PoolPrices* pool);
// Since when the price of that pool at that time is known; 0: not known.
double KnownSince(const PoolPrices& pool, double at);
bool IsStale(const PriceBook& book, const PoolPrices& pool, double at);

// What a provider says that a pool's nodes cost, an hour each.
struct PriceHeard {
  std::string pool;
  double price = 0;
};
// From `at` on it holds. False where the book has no such pool, or it is what it was: then it is only known to be
// fresh.
bool TakePrice(const PriceHeard& heard, double at, PriceBook& book);
// What was heard of offers that are in both books stays: a file has their first price only.
void KeepHeard(const PriceBook& before, PriceBook& book);

// "12.34 USD"; of less than 1 also what follows the cents.
std::string Money(double amount, const std::string& currency);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PRICES_H_
