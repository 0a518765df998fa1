#include "coordinator/fleet/file/price_book.h"

#include <string>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "coordinator/fleet/providers/contract/provider_kind.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::fleet {
namespace {

using Pool = v1::Fleet::Pool;

// A price that a provider stated is stale when the provider has not answered for `kHeardStaleAfter` seconds.
constexpr double kHeardStaleAfter = 3600;

// Returns the Unix time of a text in RFC 3339. REQUIRES: ResolveFleet has checked the text.
double UnixTime(const std::string& text) {
  absl::Time time;
  std::string error;
  absl::ParseTime(absl::RFC3339_full, text, &time, &error);
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

core::PriceHistory HistoryOf(const Pool& pool) {
  core::PriceHistory history;
  for (const auto& since : pool.prices()) history.push_back({UnixTime(since.from()), since.price()});
  if (history.empty()) history.push_back({0, pool.price()});
  return history;
}

bool IsOnDemand(const Pool& pool) { return core::PoolCapacityOf(pool.capacity()) == core::PoolCapacity::kOnDemand; }

// Returns the on-demand pool of the same instance type in the spot pool's zone, or else in its region. Returns null
// where there is none.
const Pool* OnDemandOf(const v1::Fleet& fleet, const Pool& spot) {
  const Pool* found = nullptr;
  for (const Pool& pool : fleet.pools()) {
    if (!IsOnDemand(pool) || pool.provider() != spot.provider() || pool.region() != spot.region() ||
        pool.instance_type() != spot.instance_type()) {
      continue;
    }
    if (found == nullptr || pool.zone() == spot.zone()) found = &pool;
  }
  return found;
}

}  // namespace

core::PriceBook ToPriceBook(const v1::Fleet& fleet, double written) {
  core::PriceBook book;
  book.currency = fleet.currency();
  if (fleet.stale_after_hours() > 0) book.stale_after = fleet.stale_after_hours() * 3600;
  for (const auto& team : fleet.teams()) book.teams[team.name()] = {team.share(), team.max_nodes()};
  for (const Pool& pool : fleet.pools()) {
    core::PoolPrices& prices = book.pools[pool.name()];
    prices.capacity = pool.capacity();
    prices.devices = pool.devices();
    prices.min = pool.min();
    prices.ordered = pool.has_machines();
    if (pool.machines().start_seconds() > 0) prices.start_seconds = pool.machines().start_seconds();
    prices.max = pool.max();
    prices.price = HistoryOf(pool);
    prices.device = pool.device();
    prices.carbon_region = pool.carbon_region();
    prices.node_watts = pool.node_watts();
    prices.instance_type = pool.instance_type();
    prices.speed = pool.speed();
    book.speeds_stated = book.speeds_stated || pool.speed() != 1;
    if (pool.prices().empty()) prices.known_from = fleet.as_of().empty() ? written : UnixTime(fleet.as_of());
    const Pool* on_demand = IsOnDemand(pool) ? &pool : OnDemandOf(fleet, pool);
    if (pool.on_demand_price() > 0) {
      prices.on_demand = {{0, pool.on_demand_price()}};
    } else if (on_demand != nullptr) {
      prices.on_demand = HistoryOf(*on_demand);
      prices.on_demand_of = on_demand->name();
    }
    if (!IsPriceAsked(pool)) continue;
    prices.offer = absl::StrJoin(
        {pool.provider(), pool.region(), pool.zone(), pool.instance_type(), pool.capacity(), fleet.currency()}, " ");
    prices.stale_after = kHeardStaleAfter;
  }
  return book;
}

}  // namespace rekindle::fleet
