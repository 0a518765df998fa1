#include "coordinator/core/account/costs.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "coordinator/core/account/emissions.h"

namespace rekindle::core {
namespace {

// A job's account has at most `kMaxPools` lines, because each line is for a pool, and names of pools come over the
// network.
constexpr int kMaxPools = 1000;

v1::PoolCost* LineOf(v1::Cost* cost, const std::string& pool, const std::string& capacity) {
  for (v1::PoolCost& line : *cost->mutable_pools()) {
    if (line.pool() == pool && line.capacity() == capacity) return &line;
  }
  if (cost->pools_size() >= kMaxPools) return cost->mutable_pools(cost->pools_size() - 1);
  v1::PoolCost* line = cost->add_pools();
  line->set_pool(pool);
  line->set_capacity(capacity);
  return line;
}

// Updates the present nodes and prices in the lines of a job's account, and the job's cost rate.
void ShowRates(const PriceBook& book, const Shares& shares, double now, v1::Cost* cost) {
  double rate = 0;
  for (const auto& [name, nodes] : shares) LineOf(cost, name, CapacityOf(FindPool(book, name)));
  for (v1::PoolCost& line : *cost->mutable_pools()) {
    const PoolPrices* pool = FindPool(book, line.pool());
    const auto held = shares.find(line.pool());
    line.set_nodes(held == shares.end() || line.capacity() != CapacityOf(pool) ? 0 : held->second);
    if (pool == nullptr || line.capacity() != pool->capacity) continue;
    line.set_price(PriceAt(pool->price, now));
    line.set_price_from(KnownSince(*pool, now));
    line.set_stale(IsStale(book, *pool, now));
    line.set_on_demand_known(!pool->on_demand.empty());
    rate += line.nodes() * line.price();
  }
  cost->set_rate(rate);
}

// Updates the usual cost rate of a job. In the first hour it is the mean of all rates so far. After that the rates of
// about the last hour count most.
void TakeUsualRate(double hours, v1::Cost* cost) {
  if (hours <= 0 || cost->rate() <= 0) return;
  cost->set_rated_hours(cost->rated_hours() + hours);
  const double weight = std::min(1.0, hours / std::min(1.0, cost->rated_hours()));
  cost->set_usual_rate(cost->usual_rate() + weight * (cost->rate() - cost->usual_rate()));
}

double PricedNodeHours(const v1::Cost& cost) { return cost.node_hours() - cost.unpriced_node_hours(); }

void Forecast(const v1::JobStatus& status, v1::Cost* cost) {
  const int left = std::max(0, status.resolved_spec().training().steps() - status.step());
  const double at_present = cost->spent() + left * status.step_seconds() * cost->rate() / kHour;
  const double as_so_far = status.step() > 0 ? cost->spent() + left * cost->spent() / status.step() : 0;
  const bool known = status.step() > 0 && status.step_seconds() > 0 && cost->rate() > 0;
  cost->set_forecast_low(known ? std::min(at_present, as_so_far) : 0);
  cost->set_forecast_high(known ? std::max(at_present, as_so_far) : 0);
  cost->set_forecast(known ? (at_present + as_so_far) / 2 : 0);
}

}  // namespace

v1::Cost* CostOf(Job& job) { return job.record.mutable_job()->mutable_status()->mutable_cost(); }

void AddCost(const State& state, const Shares& shares, double watts, double from, double until, v1::Cost* cost) {
  if (!(until > from)) return;
  const PriceBook& book = state.prices;
  const double hours = (until - from) / kHour;
  for (const auto& [name, nodes] : shares) {
    const PoolPrices* pool = FindPool(book, name);
    v1::PoolCost* line = LineOf(cost, name, CapacityOf(pool));
    line->set_node_hours(line->node_hours() + nodes * hours);
    cost->set_node_hours(cost->node_hours() + nodes * hours);
    if (pool == nullptr) {
      cost->set_unpriced_node_hours(cost->unpriced_node_hours() + nodes * hours);
      continue;
    }
    AddEmissions(state.carbon, *pool, nodes, watts, from, until, line);
    const double spent = nodes * CostBetween(pool->price, from, until);
    const double on_demand = nodes * CostBetween(pool->on_demand, from, until);
    line->set_spent(line->spent() + spent);
    line->set_on_demand(line->on_demand() + on_demand);
    cost->set_spent(cost->spent() + spent);
    cost->set_on_demand(cost->on_demand() + on_demand);
  }
  SumEmissions(cost);
}

double RateOf(const PriceBook& book, const Shares& shares, double unix_now) {
  double rate = 0;
  for (const auto& [name, nodes] : shares) {
    const PoolPrices* pool = FindPool(book, name);
    if (pool != nullptr) rate += nodes * PriceAt(pool->price, unix_now);
  }
  return rate;
}

void CountCosts(Turn& turn, Job& job) {
  const double now = UnixNow(turn);
  const double from = job.account.counted_until;
  if (now <= from) return;
  job.account.counted_until = now;
  if (job.account.shares.empty()) return;
  v1::Cost* cost = CostOf(job);
  const double hours = (now - from) / kHour;
  const double spent = cost->spent(), priced = PricedNodeHours(*cost);
  AddCost(turn.state, job.account.shares, NodeWatts(job), from, now, cost);
  double unheard = 0, unheard_hours = 0;
  for (const auto& [name, nodes] : job.account.lost_shares) {
    const PoolPrices* pool = FindPool(turn.state.prices, name);
    if (pool == nullptr) continue;
    unheard += nodes * CostBetween(pool->price, from, now);
    unheard_hours += nodes * hours;
  }
  cost->set_unheard(cost->unheard() + unheard);
  // Only nodes that are heard of make steps, so what lost nodes cost is no part of the cost of a step.
  job.account.since_step.hours += hours;
  job.account.since_step.spent += cost->spent() - spent - unheard;
  job.account.since_step.node_hours += PricedNodeHours(*cost) - priced - unheard_hours;
  TakeMeans(turn.state, job, now, cost);
  cost->set_hours(cost->hours() + hours);
  cost->set_until(now);
  TakeUsualRate(hours, cost);
  ShowCosts(turn, job);
  if (turn.now < job.account.cost_told_at + turn.state.tunables.evaluation_seconds) return;
  job.account.cost_told_at = turn.now;
  turn.Changed(job);
}

void ShowCosts(Turn& turn, Job& job) {
  v1::Cost* cost = CostOf(job);
  cost->set_currency(turn.state.prices.currency);
  ShowRates(turn.state.prices, job.account.shares, UnixNow(turn), cost);
  Forecast(job.record.job().status(), cost);
}

void CountRework(Job& job) {
  const v1::JobStatus& status = job.record.job().status();
  v1::Cost* cost = CostOf(job);
  // Steps that were counted at an earlier loss of members are not counted again.
  const int steps = status.step() - std::max({0, status.checkpoint_step(), cost->rework_step()});
  cost->set_rework_step(std::max(cost->rework_step(), status.step()));
  if (steps <= 0) return;
  cost->set_rework_steps_saved(cost->rework_steps_saved() + steps);
  cost->set_rework_saved(cost->rework_saved() + steps * status.step_seconds() * cost->rate() / kHour);
}

double LeastMinute(const State& state, int workers, double unix_now, std::string* pool) {
  double least = kNever;
  for (const auto& [name, prices] : state.prices.pools) {
    const double price = PriceAt(prices.price, unix_now) / std::max(1, prices.devices);
    if (price >= least) continue;
    least = price;
    *pool = name;
  }
  return least == kNever ? 0 : workers * least / 60;
}

}  // namespace rekindle::core
