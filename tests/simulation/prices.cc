// Models what the machines of pools cost and how that changes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {

// Returns the prices of all pools: those that the fleet file states, and those that were heard from providers since.
PriceBook SimCluster::PricesOfPools() const {
  PriceBook book;
  for (const auto& [name, pool] : pools_) {
    PoolPrices& prices = book.pools[name];
    prices.capacity = "spot";
    prices.price = pool.prices;
    prices.devices = pool.options.slots;
    prices.ordered = true;
    prices.max = pool.options.max;
    prices.start_seconds = 0;
    if (pool.options.asked) prices.offer = absl::StrCat("a machine of ", name);
  }
  return book;
}

// Changes the price of a pool at once. Until the coordinator has heard of the new price, the running machines cost at
// least the lower of the two prices.
void SimCluster::ChangePrice() {
  auto it = pools_.begin();
  std::advance(it, chance_.Pick(static_cast<int>(pools_.size())));
  SimPool& pool = it->second;
  CountAllRan();
  const double before = pool.prices.back().price;
  const double price = pool.options.price * chance_.Uniform(0.4, 2.5);
  Note(absl::StrFormat("a machine of pool %s costs %.3f", pool.options.name, price));
  tally_.Count(pool.options.asked ? Fault::kPriceHeard : Fault::kPriceStated);
  pool.prices.push_back({queue_.now() + wall_offset_, price});
  pool.least_price = std::min({pool.least_price, before, price});
  pool.highest_price = std::max(pool.highest_price, price);
  if (!coordinator_up_) return;
  const auto known = [this, &pool, price] {
    if (pool.prices.back().price != price) return;
    CountAllRan();
    pool.least_price = price;
  };
  if (pool.options.asked) return Feed(PriceHeard{pool.options.name, price}, known);
  Feed(PricesSet{PricesOfPools()}, known);
}

// Makes all prices known to a coordinator that starts.
void SimCluster::KnowPrices() {
  CountAllRan();
  for (auto& [name, pool] : pools_) pool.least_price = pool.prices.back().price;
}

}  // namespace rekindle::core::simulation
