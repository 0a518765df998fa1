#include "coordinator/core/spending.h"

#include <algorithm>
#include <string>

#include "coordinator/core/costs.h"
#include "coordinator/core/prices.h"

namespace rekindle::core {
namespace {

constexpr double kNothing = 1e-9;      // Parts are rounded.
constexpr double kGrantedPart = 0.25;  // Of what is left of a budget.
constexpr double kRenewedPart = 0.05;  // Of a grant that is used up when it is renewed.
constexpr double kLeastSeconds = 60;   // For so long the budget must have room for a node before it gets one.

// What it has, less what it has lost.
Shares LivingShares(const Job& job) {
  Shares living = job.shares;
  for (const auto& [pool, nodes] : job.lost_shares) living[pool] = std::max(0.0, living[pool] - nodes);
  return living;
}

double SlotsOf(const Shares& shares, const PriceBook& book) {
  double slots = 0;
  for (const auto& [name, nodes] : shares) {
    const PoolPrices* pool = FindPool(book, name);
    slots += nodes * (pool == nullptr ? 1 : pool->devices);
  }
  return slots;
}

// Of what it has, and of what has been ordered for it or is the least that it runs with.
double RateToCome(const State& state, const Job& job, double unix_now) {
  const Shares living = LivingShares(job);
  const double rate = RateOf(state.prices, living, unix_now);
  const double slots = SlotsOf(living, state.prices);
  const double wanted = std::max<double>(MinWorkers(job), static_cast<double>(job.units.size()));
  return slots > 0 ? rate * std::max(1.0, wanted / slots) : rate;
}

// Seconds from now. Infinite: there is no limit.
double Horizon(const State& state, const Job& job, double unix_now) {
  double seconds = kNever;
  if (IsFinishing(job)) return seconds;  // Whoever holds the final state tries on until it is durable.
  for (const auto& [pool, nodes] : job.shares) {
    const double alone = AloneSeconds(state, pool);
    if (alone > 0) seconds = std::min(seconds, alone);
  }
  const double rate = RateToCome(state, job, unix_now);
  if (job.record.job().status().cost().budget() <= 0 || rate <= 0) return seconds;
  const double left = std::max(0.0, BudgetLeft(state, job, unix_now)) / rate * kHour;
  // While it stops for its budget, that takes what is left.
  return std::min(seconds, job.record.budget_stop().empty() ? kGrantedPart * left : left);
}

// Is there anybody who would hear of it? What nobody was told of needs not be reserved.
bool IsHeard(const State& state, const Job& job) {
  return std::any_of(state.nodes.begin(), state.nodes.end(), [&](const auto& entry) {
    const NodeState& node = entry.second;
    if (!node.reported || node.lost) return false;
    return std::any_of(node.slots.begin(), node.slots.end(),
                       [&](const auto& slot) { return slot.second == job.record.job().uid(); });
  });
}

}  // namespace

double AloneSeconds(const State& state, const std::string& name) {
  return IsOrdered(state.prices, name) ? state.tunables.alone_seconds : 0;
}

void GrantSpending(Turn& turn, Job& job) {
  const Shares living = LivingShares(job);
  const bool has_any =
      std::any_of(living.begin(), living.end(), [](const auto& share) { return share.second > kNothing; });
  if (!has_any) return;  // Nobody would be told; what those that are lost were told stands.
  const double seconds = Horizon(turn.state, job, UnixNow(turn));
  const double granted = job.record.granted_until();
  if (seconds == kNever) {
    if (granted == 0) return;
    job.record.clear_granted_until();
    job.must_save = true;
    return;
  }
  const double until = UnixNow(turn) + seconds;
  if (granted > 0 && until - granted <= kRenewedPart * seconds) return;
  if (granted > 0 && !IsHeard(turn.state, job)) return;
  job.record.set_granted_until(until);
  job.must_save = true;
}

double BudgetLeft(const State& state, const Job& job, double unix_now) {
  const v1::Cost& cost = job.record.job().status().cost();
  double left = cost.budget() - cost.spent();
  for (const v1::JobRecord::ChargedNode& lost : job.record.lost_nodes()) {
    const PoolPrices* pool = FindPool(state.prices, lost.pool());
    if (pool != nullptr) left -= lost.part() * CostBetween(pool->price, unix_now, lost.until());
  }
  return left;
}

double LivingRate(const State& state, const Job& job, double unix_now) {
  return RateOf(state.prices, LivingShares(job), unix_now);
}

double LowestPrice(const State& state, const Job& job, double unix_now) {
  const v1::JobSpec& spec = SpecOf(job);
  const std::string& capacity = spec.goals().capacity();
  double lowest = kNever;
  for (const auto& [name, pool] : state.prices.pools) {
    if ((capacity == "spot" || capacity == "on_demand") && pool.capacity != capacity) continue;
    if (!spec.workers().device().empty() && !pool.device.empty() && pool.device != spec.workers().device()) continue;
    lowest = std::min(lowest, PriceAt(pool.price, unix_now) / std::max(1, pool.devices));
  }
  return lowest == kNever ? 0 : lowest;
}

double NeededForSlots(const Turn& turn, const Job& job, double price, int slots) {
  const double now = UnixNow(turn);
  const double granted = std::max(0.0, job.record.granted_until() - now);
  return (LivingRate(turn.state, job, now) * granted + slots * price * std::max(kLeastSeconds, granted)) / kHour;
}

int RoomForSlots(const Turn& turn, const Job& job, double price) {
  constexpr double kMost = kMaxTrainers;
  const double now = UnixNow(turn);
  if (job.record.job().status().cost().budget() <= 0 || IsFinishing(job) || price <= 0) return static_cast<int>(kMost);
  const double none = NeededForSlots(turn, job, price, 0);
  const double each = NeededForSlots(turn, job, price, 1) - none;
  return static_cast<int>(std::clamp((BudgetLeft(turn.state, job, now) - none) / each, 0.0, kMost));
}

double SpendUntil(const State& state, const NodeState& node) {
  double until = kNever;
  if (!IsOrdered(state.prices, node.record.pool())) return until;
  for (const auto& [slot, uid] : node.slots) {
    const auto job = state.jobs.find(uid);
    if (job == state.jobs.end() || job->second.record.granted_until() <= 0) continue;
    until = std::min(until, job->second.record.granted_until());
  }
  return until;
}

}  // namespace rekindle::core
