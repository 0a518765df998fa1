#include "tests/simulation/world/pool.h"

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

PriceBook PricesOf(const std::map<std::string, SimPool>& pools) {
  PriceBook book;
  for (const auto& [name, pool] : pools) {
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

}  // namespace rekindle::core::simulation
