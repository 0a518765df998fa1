#include "coordinator/core/prices.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace rekindle::core {

double PriceAt(const PriceHistory& history, double at) {
  if (history.empty()) return 0;
  const auto next = std::upper_bound(history.begin(), history.end(), at,
                                     [](double time, const PriceSince& since) { return time < since.from; });
  return next == history.begin() ? next->price : (next - 1)->price;
}

double CostBetween(const PriceHistory& history, double from, double until) {
  double cost = 0;
  while (from < until) {
    const auto next = std::upper_bound(history.begin(), history.end(), from,
                                       [](double time, const PriceSince& since) { return time < since.from; });
    const double end = next == history.end() ? until : std::min(until, next->from);
    cost += PriceAt(history, from) * (end - from) / kHour;
    from = end;
  }
  return cost;
}

const PoolPrices* FindPool(const PriceBook& book, const std::string& name) {
  const auto found = book.pools.find(name);
  return found == book.pools.end() ? nullptr : &found->second;
}

std::string CapacityOf(const PoolPrices* pool) { return pool == nullptr ? "unpriced" : pool->capacity; }

double KnownSince(const PoolPrices& pool, double at) {
  double since = pool.known_from;
  for (const PriceSince& price : pool.price) {
    if (price.from <= at) since = std::max(since, price.from);
  }
  return since;
}

bool IsStale(const PriceBook& book, const PoolPrices& pool, double at) {
  const double since = KnownSince(pool, at);
  return since > 0 && at - since > book.stale_after;
}

std::string Money(double amount, const std::string& currency) {
  const int digits = amount > -1 && amount < 1 && amount != 0 ? 4 : 2;
  return absl::StrFormat("%.*f %s", digits, amount, currency);
}

}  // namespace rekindle::core
