#include "coordinator/core/planning/pools.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/generation/fence.h"
#include "coordinator/core/machines/draining.h"
#include "coordinator/core/machines/pool_owner.h"
#include "coordinator/core/machines/registering.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr double kLongestAvoid = 3600;
constexpr size_t kMaxNames = 10'000;

std::string CountNodes(int count) { return absl::StrCat(count, count == 1 ? " node" : " nodes"); }

std::string Duration(double seconds) {
  return seconds < 600 ? Seconds(seconds) : absl::StrFormat("%.0f min", seconds / 60);
}

// Avoids a pool for a while. Returns false where it is avoided already.
bool Avoid(Turn& turn, const std::string& name, PoolState& pool, const std::string& why, double least,
           const char* kind = "pool_trouble") {
  if (pool.avoided) return false;
  const double first = turn.state.tunables.pool_avoid_seconds;
  pool.avoid_seconds = std::min(kLongestAvoid, std::max({first, 2 * pool.avoid_seconds, least}));
  pool.avoid_until = turn.now + pool.avoid_seconds;
  pool.avoided = true;
  pool.given_up = false;
  pool.short_since = kNever;
  turn.Replan();
  turn.Emit(nullptr, kind, absl::StrCat("pool ", name, " is avoided for ", Duration(pool.avoid_seconds), ": ", why));
  return true;
}

// Avoids a pool whose machines are paid for and never register. The pool is avoided over a restart, too, and at least
// for as long as one machine is waited for.
void AvoidForLong(Turn& turn, const std::string& name, PoolState& pool, const std::string& why) {
  if (!Avoid(turn, name, pool, why, RegistersWithin(turn.state, name), "pool_avoided")) return;
  pool.record.set_avoid_seconds(pool.avoid_seconds);
  pool.record.set_avoid_until(pool.avoid_until + turn.state.wall_offset);
  turn.Save(pool);
}

void TryAgain(Turn& turn, const std::string& name, PoolState& pool) {
  pool.avoided = false;
  if (pool.record.avoid_until() > 0) turn.Save(pool);
  pool.record.set_avoid_until(0);
  pool.reported.trouble = PoolTrouble::kNone;
  turn.Emit(nullptr, "pool_retried", absl::StrCat("pool ", name, " may be tried again"));
}

std::string Describe(const PoolReported& report) {
  const char* what = report.trouble == PoolTrouble::kNoCapacity  ? "it has no capacity"
                     : report.trouble == PoolTrouble::kThrottled ? "it asks to come back later"
                                                                 : "its provider failed";
  return report.error.empty() ? what : absl::StrCat(what, ": ", report.error);
}

// An Ordering makes one pool's order.
class Ordering {
 public:
  Ordering(Turn& turn, const std::string& name, const OrderedNodes& nodes)
      : turn_(turn),
        name_(name),
        nodes_(nodes),
        prices_(*FindPool(turn.state.prices, name)),
        pool_(turn.state.pools[name]) {}

  double Run(int missing, const std::string& why) {
    // `silent` counts nodes that were not heard of since the coordinator started, so that it is not known which jobs
    // they serve. They likely serve the jobs that seem to lack nodes, so that number of nodes is not ordered anew.
    const auto silent =
        static_cast<int>(std::count_if(nodes_.there.begin(), nodes_.there.end(),
                                       [](const NodeState* node) { return !node->reported && node->slots.empty(); }));
    const int new_nodes = std::max(0, (missing + prices_.devices - 1) / prices_.devices - silent);
    int wanted = static_cast<int>(nodes_.there.size() + nodes_.leaving.size()) + new_nodes;
    SendHome(std::max(0, wanted - prices_.min));
    for (const NodeState* node : nodes_.released) order_.release.push_back(node->record.name());
    wanted = std::clamp(wanted, prices_.min, std::max(prices_.min, prices_.max));
    order_.end = Overdue(pool_);
    const int stay = pool_.reported.running - static_cast<int>(order_.end.size());
    // A machine that is being made has no name yet. If fewer machines were ordered now, one that works might go in its
    // place. So the order stays, and the new machine is drained once it is there and serves no job.
    if (!pool_.avoided && pool_.is_told && pool_.not_ours_since == kNever) {
      wanted = std::max(wanted, std::min(pool_.told.nodes, stay) - static_cast<int>(order_.release.size()));
    }
    order_.pool = name_;
    order_.nodes = wanted;
    SetSurplus();
    if (order_.surplus == Surplus::kEnds && wanted < stay) {
      // Where fewer machines are wanted, those that have not registered are to end first, because they certainly serve
      // no job.
      const std::vector<std::string> first = Unregistered(turn_.state, pool_);
      order_.release.insert(order_.release.end(), first.begin(), first.end());
    }
    for (const std::string& node : turn_.state.doubted) {
      const auto found = turn_.state.nodes.find(node);
      if (found != turn_.state.nodes.end() && found->second.record.pool() == name_) order_.look_for.push_back(node);
    }
    Tell(new_nodes, why);
    Watch();
    return wake_at_;
  }

 private:
  // Sets what becomes of surplus machines. After a restart it takes a while until it is known which nodes are there.
  // Before the first order it is not even known whose machines they are.
  void SetSurplus() {
    const State& state = turn_.state;
    const double returned_by = state.started + state.tunables.return_seconds;
    if (!IsOurs(state, name_, pool_)) {
      order_.surplus = Surplus::kIsOthers;
    } else if (state.restarted && turn_.now < returned_by) {
      order_.surplus = Surplus::kStays;
      wake_at_ = std::min(wake_at_, returned_by);
    }
  }

  // Drains nodes that have served no job for long, or serve none and may be taken anyway. They leave once they are
  // empty.
  void SendHome(int at_most) {
    const double grace = turn_.state.tunables.idle_seconds;
    for (const auto* list : {&nodes_.leaving, &nodes_.there}) {
      for (NodeState* node : *list) {
        const bool idle = node->reported && node->slots.empty() && !node->record.draining();
        if (!idle) node->idle_since = kNever;
        if (!idle) continue;
        if (node->idle_since == kNever) node->idle_since = turn_.now;
        const bool hinted = !node->record.hint().empty();
        if (!hinted && turn_.now < node->idle_since + grace) {
          wake_at_ = std::min(wake_at_, node->idle_since + grace);
          continue;
        }
        if (!hinted && at_most-- <= 0) continue;
        StartDraining(turn_, *node, 0,
                      hinted ? node->record.hint() : absl::StrCat("it has served nobody for ", Seconds(grace)));
      }
    }
  }

  void Tell(int new_nodes, const std::string& why) {
    const bool first = !pool_.is_told;
    if (first && order_.nodes == 0 && !turn_.state.restarted) return;
    const auto content = [](const PoolOrder& order) {
      return std::tie(order.nodes, order.release, order.end, order.look_for);
    };
    // An order is sent again only if it has changed. A change of what becomes of surplus machines counts only where the
    // pool runs more machines than were ordered, or machines that are not this cluster's.
    const bool matters = pool_.reported.not_ours || pool_.reported.running > order_.nodes;
    const bool same_surplus = order_.surplus == pool_.told.surplus || !matters;
    if (!first && same_surplus && content(order_) == content(pool_.told)) return;
    // Before the order is sent, it is saved that the pool's machines are this cluster's. So the ordered machines are
    // known to be its own even if this process ends right after that.
    if (order_.nodes > 0 && pool_.listed && pool_.reported.running == 0) SetOurs(turn_, pool_);
    order_.reason = Reason(new_nodes, why);
    turn_.effects.orders.push_back(order_);
    if (order_.nodes != pool_.told.nodes && !(first && turn_.state.restarted)) {
      turn_.Emit(nullptr, "pool_order",
                 absl::StrCat("pool ", name_, " is to have ", CountNodes(order_.nodes), " (had ", pool_.told.nodes,
                              "): ", order_.reason));
    }
    // The order has grown, so the time in which the ordered nodes have to come begins anew.
    if (order_.nodes > pool_.told.nodes) pool_.short_since = kNever;
    pool_.told = order_;
    pool_.is_told = true;
  }

  std::string Reason(int new_nodes, const std::string& why) const {
    if (!pool_.is_told && turn_.state.restarted) return "as before the coordinator was restarted";
    if (order_.nodes <= pool_.told.nodes) {
      return !order_.end.empty()      ? absl::StrCat(JoinWords(order_.end), " never registered")
             : pool_.avoided          ? "no more than what is there is waited for now"
             : order_.release.empty() ? "less is needed"
                                      : absl::StrCat(JoinWords(order_.release), " may go");
    }
    if (new_nodes == 0) return "so many are there";
    std::vector<std::string> words;
    for (const NodeState* node : nodes_.leaving) {
      const std::string& cause = node->record.draining() ? node->record.drain_reason() : node->record.hint();
      if (words.size() < 3) words.push_back(absl::StrCat(node->record.name(), " leaves (", cause, ")"));
    }
    if (!words.empty()) return absl::StrCat("replacements come first: ", JoinWords(words));
    return why.empty() ? "jobs have room for more" : why;
  }

  // Watches whether the ordered nodes come in time.
  void Watch() {
    const auto there = static_cast<int>(nodes_.there.size() + nodes_.leaving.size());
    // Machines that run already have a time limit of their own to register (registering.h).
    if (pool_.avoided || there + CountAwaited(turn_.state, pool_) >= pool_.told.nodes) {
      if (!pool_.avoided && pool_.told.nodes > 0 && there >= pool_.told.nodes) Fulfilled();
      pool_.short_since = kNever;
      return;
    }
    if (pool_.short_since == kNever || there > pool_.short_at) pool_.short_since = turn_.now;
    pool_.short_at = there;
    wake_at_ = std::min(wake_at_, pool_.short_since + turn_.state.tunables.pool_start_seconds);
  }

  void Fulfilled() {
    pool_.avoid_seconds = 0;
    if (pool_.record.avoid_seconds() == 0) return;
    pool_.record.set_avoid_seconds(0);
    turn_.Save(pool_);
  }

  Turn& turn_;
  const std::string& name_;
  const OrderedNodes& nodes_;
  const PoolPrices& prices_;
  PoolState& pool_;
  PoolOrder order_;
  double wake_at_ = kNever;
};

}  // namespace

void TakePoolReport(Turn& turn, const PoolReported& report) {
  const auto it = turn.state.pools.find(report.pool);
  // The fleet file has no pool of the report's name.
  if (it == turn.state.pools.end()) return;
  TakeEndedMachines(turn, report);
  PoolState& pool = it->second;
  if (report.running != pool.reported.running || report.trouble != pool.reported.trouble) turn.Replan();
  if (report.not_ours != pool.reported.not_ours) turn.Replan();
  pool.reported = report;
  pool.reported.error = Bounded(report.error);
  if (pool.reported.machines.size() > kMaxNames) pool.reported.machines.resize(kMaxNames);
  if (report.listed) {
    TakeOwner(turn, it->first, pool, report);
    if (pool.not_ours_since == kNever) TakeMachines(turn, pool, pool.reported);
    pool.listed = true;
  }
  if (report.trouble != PoolTrouble::kNone) {
    Avoid(turn, it->first, pool, Describe(pool.reported), std::isfinite(report.retry_after) ? report.retry_after : 0);
  }
}

double WatchPools(Turn& turn) {
  double wake_at = kNever;
  for (auto& [name, pool] : turn.state.pools) {
    const PoolPrices* prices = FindPool(turn.state.prices, name);
    if (prices == nullptr || !prices->ordered) {
      // The pool takes no orders any more, so no provider reports on its machines, and what is known of them would
      // become wrong.
      pool.machines.clear();
      continue;
    }
    if (pool.avoided && turn.now >= pool.avoid_until) TryAgain(turn, name, pool);
    const Watched watched = WatchMachines(turn, name, pool);
    wake_at = std::min(wake_at, watched.wake_at);
    if (!watched.avoid_because.empty()) AvoidForLong(turn, name, pool, watched.avoid_because);
    wake_at = std::min(wake_at, WatchOwner(turn, name, pool));
    const double patience = turn.state.tunables.pool_start_seconds;
    if (!pool.avoided && turn.now >= pool.short_since + patience) {
      Avoid(turn, name, pool,
            absl::StrCat(pool.told.nodes - pool.short_at, " of ", CountNodes(pool.told.nodes), " have not come within ",
                         Duration(patience), " of being ordered"),
            0);
      pool.given_up = true;
    }
    if (pool.avoided) wake_at = std::min(wake_at, pool.avoid_until);
  }
  return wake_at;
}

scheduler::OwnCode RunsOnNext(Turn& turn, PoolState& pool, const OrderedNodes& nodes) {
  const NodeState* newest = nullptr;
  for (const auto* list : {&nodes.there, &nodes.leaving}) {
    for (const NodeState* node : *list) {
      if (!node->reported || node->lost) continue;
      if (newest == nullptr || node->known_since > newest->known_since) newest = node;
    }
  }
  UnableMachine& unable = pool.unable;
  if (newest != nullptr && newest->known_since >= unable.known_since) {
    const Tunables& tunables = turn.state.tunables;
    if (newest->runs == scheduler::OwnCode::kAny) {
      unable = {};
    } else if (newest->known_since > unable.known_since) {
      const double first = std::max(tunables.pool_avoid_seconds, tunables.idle_seconds);
      unable.seconds = std::min(kLongestAvoid, std::max(first, 2 * unable.seconds));
      unable.until = turn.now + unable.seconds;
      unable.known_since = newest->known_since;
    }
    if (newest->runs != scheduler::OwnCode::kAny) unable.runs = newest->runs;
  }
  return turn.now < unable.until ? unable.runs : scheduler::OwnCode::kAny;
}

double OrderPools(Turn& turn, const PlanView& view, const std::vector<int>& missing,
                  const std::vector<std::string>& why) {
  double wake_at = kNever;
  for (size_t g = 0; g < view.ordered.size(); ++g) {
    wake_at = std::min(wake_at, Ordering(turn, view.groups[g].pool, view.ordered[g]).Run(missing[g], why[g]));
  }
  return wake_at;
}

}  // namespace rekindle::core
