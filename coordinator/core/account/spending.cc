#include "coordinator/core/account/spending.h"

#include <algorithm>
#include <string>
#include <utility>

#include "coordinator/core/account/costs.h"
#include "coordinator/market/goal_words.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

// A part of a node below `kNothing` counts as none, because parts are rounded.
constexpr double kNothing = 1e-9;
// At most the part `kGrantedPart` of what is left of a budget is granted at a time.
constexpr double kGrantedPart = 0.25;
// A grant is renewed once the part `kRenewedPart` of it is used up.
constexpr double kRenewedPart = 0.05;
// A job that waits for workers makes no steps, and what is reserved for the nodes that it has cannot be spent on those
// that it waits for. So it is granted at most `kWaitingSeconds` at a time.
constexpr double kWaitingSeconds = 300;
// A job gets a node only if its budget has room for the node's costs in `kLeastSeconds` seconds.
constexpr double kLeastSeconds = 60;

// Returns what nodes the job holds in each pool, without those that it has lost.
Shares LivingShares(const Job& job) {
  Shares living = job.account.shares;
  for (const auto& [pool, nodes] : job.account.lost_shares) living[pool] = std::max(0.0, living[pool] - nodes);
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

// Returns what the job will cost an hour with all the nodes that were ordered for it, or with the least number of
// workers that it runs with. A slot that is still to come costs as much as those that the job has do on average, and
// not less than a slot can be had for: some that the job has may cost nothing. While none costs anything, nothing is
// spent.
double RateToCome(const State& state, const Job& job, double unix_now) {
  const Shares living = LivingShares(job);
  const double rate = RateOf(state.prices, living, unix_now);
  const double slots = SlotsOf(living, state.prices);
  if (slots <= 0 || rate <= 0) return rate;
  const double wanted = std::max<double>(MinWorkers(job), static_cast<double>(job.wishes.units.size()));
  return rate + std::max(0.0, wanted - slots) * std::max(rate / slots, LowestPrice(state, job, unix_now));
}

// Returns for how many seconds from now the job may spend. It is infinite where there is no limit.
double Horizon(const State& state, const Job& job, double unix_now) {
  double seconds = kNever;
  // The members of a finishing job try to save its final state until that is durable, so the job may spend without
  // limit.
  if (IsFinishing(job)) return seconds;
  for (const auto& [pool, nodes] : job.account.shares) {
    const double alone = AloneSeconds(state, pool);
    if (alone > 0) seconds = std::min(seconds, alone);
  }
  const double rate = RateToCome(state, job, unix_now);
  if (job.record.job().status().cost().budget() <= 0 || rate <= 0) return seconds;
  if (!job.active) seconds = std::min(seconds, kWaitingSeconds);
  const double left = std::max(0.0, BudgetLeft(state, job, unix_now)) / rate * kHour;
  // A job that stops because of its budget may use up the rest of the budget while it stops.
  return std::min(seconds, job.record.budget_stop().empty() ? kGrantedPart * left : left);
}

// Returns whether any node of the job would hear of a new spending grant. Money for a grant that no node hears of need
// not be reserved.
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
  // A job that has only lost nodes gets no new grant, because none of them would hear of it. The grants that the lost
  // nodes were told of still hold.
  if (!has_any) return;
  const double seconds = Horizon(turn.state, job, UnixNow(turn));
  const double granted = job.record.granted_until();
  if (seconds == kNever) {
    if (granted == 0) return;
    job.record.clear_granted_until();
    turn.Save(job);
    return;
  }
  const double until = UnixNow(turn) + seconds;
  if (granted > 0 && until - granted <= kRenewedPart * seconds) return;
  if (granted > 0 && !IsHeard(turn.state, job)) return;
  job.record.set_granted_until(until);
  turn.Save(job);
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
  const scheduler::Allowed allowed = AllowedOf(spec.goals().capacity());
  double lowest = kNever;
  for (const auto& [name, pool] : state.prices.pools) {
    const PoolCapacity capacity = PoolCapacityOf(pool.capacity);
    if (allowed == scheduler::Allowed::kSpot && capacity != PoolCapacity::kSpot) continue;
    if (allowed == scheduler::Allowed::kOnDemand && capacity != PoolCapacity::kOnDemand) continue;
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

double LeastForSlots(const State& state, const Job& job, double unix_now, double price, int slots) {
  return (LivingRate(state, job, unix_now) + slots * price) * kLeastSeconds / kHour;
}

void CountRoom(const Turn& turn, Job& job) {
  const double now = UnixNow(turn);
  const double price = LowestPrice(turn.state, job, now);
  RoomFacts facts = {.shares = job.account.shares,
                     .lost_shares = job.account.lost_shares,
                     .granted_until = job.record.granted_until(),
                     .budget = job.record.job().status().cost().budget(),
                     .rate = LivingRate(turn.state, job, now),
                     .price = price,
                     .finishing = IsFinishing(job)};
  if (job.account.room_facts == facts) return;
  job.account.budget_room = RoomForSlots(turn, job, price);
  job.account.room_facts = std::move(facts);
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
