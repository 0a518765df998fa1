#include "coordinator/fleet/price_book.h"

#include <string>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace rekindle::fleet {
namespace {

using Pool = v1::Fleet::Pool;

constexpr double kHeardStaleAfter = 3600;  // Seconds in which a provider that is asked has not answered.

// REQUIRES: checked by ResolveFleet.
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

// The on-demand pool of the same instance type: that of its zone, else of its region. Null: there is none.
const Pool* OnDemandOf(const v1::Fleet& fleet, const Pool& spot) {
  const Pool* found = nullptr;
  for (const Pool& pool : fleet.pools()) {
    if (pool.capacity() != "on_demand" || pool.provider() != spot.provider() || pool.region() != spot.region() ||
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
    const Pool* on_demand = pool.capacity() == "on_demand" ? &pool : OnDemandOf(fleet, pool);
    if (pool.on_demand_price() > 0) {
      prices.on_demand = {{0, pool.on_demand_price()}};
    } else if (on_demand != nullptr) {
      prices.on_demand = HistoryOf(*on_demand);
      prices.on_demand_of = on_demand->name();
    }
    if (pool.price_from() != "provider") continue;
    prices.offer = absl::StrJoin(
        {pool.provider(), pool.region(), pool.zone(), pool.instance_type(), pool.capacity(), fleet.currency()}, " ");
    prices.stale_after = kHeardStaleAfter;
  }
  return book;
}

}  // namespace rekindle::fleet
