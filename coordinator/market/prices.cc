#include "coordinator/market/prices.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::core {
namespace {

// A pool keeps at most `kLongestHistory` prices. Older ones are not needed, because the costs at them were counted
// before.
constexpr size_t kLongestHistory = 1000;

// Appends a price. If a clock was set back, the history may have prices of a later time. These are removed first, so
// that the history stays sorted by time.
void Append(PriceSince since, PriceHistory& history) {
  while (!history.empty() && history.back().from >= since.from) history.pop_back();
  history.push_back(since);
  if (history.size() > kLongestHistory) history.erase(history.begin());
}

}  // namespace

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

bool IsOrdered(const PriceBook& book, const std::string& name) {
  const PoolPrices* pool = FindPool(book, name);
  return pool != nullptr && pool->ordered;
}

std::string CapacityOf(const PoolPrices* pool) {
  return pool == nullptr ? WordOf(PoolCapacity::kUnpriced) : pool->capacity;
}

double KnownSince(const PoolPrices& pool, double at) {
  double since = std::max(pool.known_from, pool.heard_at);
  for (const PriceSince& price : pool.price) {
    if (price.from <= at) since = std::max(since, price.from);
  }
  return since;
}

bool IsStale(const PriceBook& book, const PoolPrices& pool, double at) {
  const double since = KnownSince(pool, at);
  return since > 0 && at - since > std::min(book.stale_after, pool.stale_after);
}

bool TakePrice(const PriceHeard& heard, double at, PriceBook& book) {
  const auto found = book.pools.find(heard.pool);
  if (found == book.pools.end() || found->second.offer.empty()) return false;
  PoolPrices& pool = found->second;
  pool.heard_at = at;
  if (heard.price == PriceAt(pool.price, at)) return false;
  Append({at, heard.price}, pool.price);
  for (auto& [name, other] : book.pools) {
    if (other.on_demand_of == heard.pool) other.on_demand = pool.price;
  }
  return true;
}

void KeepHeard(const PriceBook& before, PriceBook& book) {
  for (auto& [name, pool] : book.pools) {
    const PoolPrices* old = FindPool(before, name);
    if (pool.offer.empty() || old == nullptr || old->offer != pool.offer || old->heard_at <= 0) continue;
    pool.price = old->price;
    pool.heard_at = old->heard_at;
  }
  for (auto& [name, pool] : book.pools) {
    const PoolPrices* of = FindPool(book, pool.on_demand_of);
    if (of != nullptr) pool.on_demand = of->price;
  }
}

std::string Money(double amount, const std::string& currency) {
  const int digits = amount > -1 && amount < 1 && amount != 0 ? 4 : 2;
  return absl::StrFormat("%.*f %s", digits, amount, currency);
}

}  // namespace rekindle::core
