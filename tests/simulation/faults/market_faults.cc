#include "tests/simulation/faults/market_faults.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace rekindle::core::simulation {

SimPool& MarketFaults::AnyPool() {
  auto it = world_.pools.begin();
  std::advance(it, world_.chance.Pick(static_cast<int>(world_.pools.size())));
  return it->second;
}

void MarketFaults::Change() {
  SimPool& pool = AnyPool();
  const int before = pool.offered;
  pool.offered = world_.chance.Pick(pool.options.max + 1);
  pool.says_when_short = world_.chance.Happens(0.5);
  pool.says_what_ended = world_.chance.Happens(0.7);
  if (pool.offered > before) world_.journal.Count(Fault::kMarketGives);
  world_.journal.Note(absl::StrCat("the market gives ", pool.offered, " machines of pool ", pool.options.name));
  auto excess = static_cast<int>(pool.machines.size()) - pool.offered;
  for (const std::string& name : std::set<std::string>(pool.machines)) {
    if (excess-- <= 0) return;
    TakeMachine(name);
  }
}

void MarketFaults::TakeMachine(const std::string& name) {
  world_.journal.Count(Fault::kMarketTakes);
  const auto node = world_.nodes.find(name);
  if (node == world_.nodes.end()) return machines_.End(name);
  if (world_.chance.Happens(0.4)) return machines_.Kill(node->second, world_.chance.Happens(0.3));
  node->second.draining = true;
  world_.journal.Count(Fault::kNodeNoticed);
  world_.After(world_.chance.Uniform(2, 6), [this, name] { machines_.End(name); });
}

void MarketFaults::ChangePrice() {
  SimPool& pool = AnyPool();
  world_.Tell([](Observer& observer) { observer.PriceChanges(); });
  const double before = pool.prices.back().price;
  const double price = pool.options.price * world_.chance.Uniform(0.4, 2.5);
  world_.journal.Note(absl::StrFormat("a machine of pool %s costs %.3f", pool.options.name, price));
  world_.journal.Count(pool.options.asked ? Fault::kPriceHeard : Fault::kPriceStated);
  pool.prices.push_back({coordinator_.clock().UnixNow(), price});
  pool.least_price = std::min({pool.least_price, before, price});
  pool.highest_price = std::max(pool.highest_price, price);
  if (!coordinator_.is_up()) return;
  const auto known = [this, &pool, price] {
    if (pool.prices.back().price != price) return;
    world_.Tell([](Observer& observer) { observer.PriceChanges(); });
    pool.least_price = price;
  };
  if (pool.options.asked) return coordinator_.Feed(PriceHeard{pool.options.name, price}, known);
  coordinator_.Feed(PricesSet{PricesOf(world_.pools)}, known);
}

}  // namespace rekindle::core::simulation
