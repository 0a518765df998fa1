#include "coordinator/core/machines/registering.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/account/machine_costs.h"
#include "coordinator/core/state/text.h"
#include "coordinator/market/prices.h"

namespace rekindle::core {
namespace {

// The cost of a machine that still runs, although its node is overdue to register, is counted once in this many
// seconds.
constexpr double kCountSeconds = 60;
constexpr double kLookAgainSeconds = 60;
// A node may register before the coordinator asks the pool's provider again which machines there are. So for this many
// seconds it is no fault that the provider has not named the node.
constexpr double kUnnamedSeconds = 120;
// The times that a provider states may be rounded by this many seconds.
constexpr double kSameSeconds = 1;
// An event names at most this many nodes or jobs.
constexpr size_t kMostNamed = 10;

bool IsLive(const NodeState& node) { return node.reported && !node.lost; }

const NodeState* FindNode(const State& state, const std::string& name) {
  const auto found = state.nodes.find(name);
  return found == state.nodes.end() ? nullptr : &found->second;
}

// Returns whether the machine's node was heard of since the machine runs. Names of machines may be used again, so what
// was heard before does not count.
bool HasRegistered(const State& state, const WatchedMachine& machine) {
  const NodeState* node = FindNode(state, machine.record.node());
  if (node == nullptr || !node->reported) return false;
  return node->heard >= std::min(machine.seen, machine.record.since() - state.wall_offset);
}

bool IsAwaited(const State& state, const WatchedMachine& machine) {
  if (machine.registered || machine.record.overdue()) return false;
  const NodeState* node = FindNode(state, machine.record.node());
  return node == nullptr || !IsLive(*node);
}

void Register(const Turn& turn, PoolState& pool, WatchedMachine& machine) {
  machine.registered = true;
  pool.record.set_in_a_row(0);
  pool.record.set_row_spent(0);
  pool.record.set_ours(true);
  turn.Save(pool);
}

WatchedMachine Watch(const Turn& turn, const PoolState& pool, const PoolMachine& told) {
  const double now = UnixNow(turn);
  WatchedMachine machine{.record = {}, .seen = turn.now};
  machine.record.set_id(told.id);
  machine.record.set_node(told.node);
  const bool is_told = std::isfinite(told.since) && told.since > 0;
  machine.record.set_since(is_told ? std::min(told.since, now) : now);
  machine.record.set_told_since(is_told ? told.since : 0);
  // Nobody knows whether the node of a machine that ran before this process began had registered, so the machine gets
  // the whole time to register again.
  const double from = pool.listed ? machine.record.since() : now;
  machine.record.set_deadline(from + RegistersWithin(turn.state, pool.record.name()));
  SetParts(turn.state, pool.record.name(), &machine.record);
  const NodeState* node = FindNode(turn.state, told.node);
  machine.registered = !pool.listed && node != nullptr && !node->record.incarnation().empty();
  return machine;
}

bool IsWatched(const PoolMachine& told) { return told.running && !told.node.empty(); }

// Returns whether the provider lists another machine under the id of a known one. A pod, for example, has the id of the
// pod before it.
bool IsAnother(const PoolMachine& told, const WatchedMachine& known) {
  return known.record.told_since() > 0 && told.since > known.record.told_since() + kSameSeconds;
}

// Gives a known machine a new id. It is still the same machine, and is not listed under its old id any more.
void Rename(const Turn& turn, PoolState& pool, const std::string& before, const std::string& id) {
  auto machine = pool.machines.extract(before);
  machine.key() = id;
  machine.mapped().record.set_id(id);
  pool.machines.insert(std::move(machine));
  turn.Save(pool);
}

// Ends the watch on a machine that is gone, and counts what it has cost. If it went while the coordinator was away,
// nobody knows when. Then its cost is counted only until it was last seen.
void Forget(Turn& turn, PoolState& pool, WatchedMachine& machine) {
  if (machine.record.overdue() && !machine.registered && pool.listed) CountMachine(turn, pool, 0, machine.record);
  if (!machine.registered) turn.Save(pool);
  turn.Replan();
}

// Returns nodes that serve in the pool and are not among the machines that its provider names. The provider may call
// them by other names.
std::vector<std::string> Unnamed(const State& state, const std::string& name, const PoolState& pool) {
  std::set<std::string> named;
  for (const PoolMachine& machine : pool.reported.machines) named.insert(machine.node);
  std::vector<std::string> unnamed;
  for (const auto& [node_name, node] : state.nodes) {
    if (node.record.pool() != name || !IsLive(node) || node.record.draining()) continue;
    if (named.count(node_name) == 0 && unnamed.size() < kMostNamed) unnamed.push_back(node_name);
  }
  return unnamed;
}

// Returns whether the provider's names for machines are those with which the nodes register. Without this check,
// machines that work would be ended as unregistered.
bool CanTellApart(Turn& turn, const std::string& name, PoolState& pool) {
  const std::vector<std::string> unnamed = Unnamed(turn.state, name, pool);
  if (unnamed.empty()) {
    pool.unnamed_since = kNever;
    return true;
  }
  if (pool.unnamed_since == kNever) pool.unnamed_since = turn.now;
  if (turn.now < pool.unnamed_since + kUnnamedSeconds || std::exchange(pool.told_unnamed, true)) return false;
  turn.Emit(nullptr, "pool_names_differ",
            absl::StrCat("pool ", name, ": ", JoinWords(unnamed),
                         " registered with it, and its provider names no such machine: while that is so, no machine of "
                         "it is taken for one that never registers; start workers with --node as the provider calls "
                         "their machine"));
  return false;
}

void TellOverdue(Turn& turn, const std::string& name, const PoolState& pool, const v1::PoolRecord::Machine& machine,
                 double spent) {
  std::vector<std::string> jobs;
  for (const v1::PoolRecord::Part& part : machine.parts()) {
    const auto job = turn.state.jobs.find(part.job());
    if (job != turn.state.jobs.end() && jobs.size() < kMostNamed) jobs.push_back(job->second.record.job().name());
  }
  turn.Emit(nullptr, "machine_never_registered",
            absl::StrCat("machine ", Bounded(machine.id()), " of pool ", name, " has run for ",
                         Seconds(UnixNow(turn) - machine.since()), ", and its node ", Bounded(machine.node()),
                         " has not registered: it is to end, and has cost ", Money(spent, turn.state.prices.currency),
                         jobs.empty() ? "" : absl::StrCat(", for ", JoinWords(jobs)), "; ", pool.record.in_a_row(),
                         " in a row"),
            Bounded(machine.node()));
}

}  // namespace

double RegistersWithin(const State& state, const std::string& pool) {
  const PoolPrices* prices = FindPool(state.prices, pool);
  return (prices == nullptr ? 0 : prices->start_seconds) + state.tunables.register_seconds;
}

void AdoptPool(Turn& turn, const v1::PoolRecord& record) {
  PoolState& pool = turn.state.pools[record.name()];
  const double now = UnixNow(turn);
  pool.record = record;
  pool.record.clear_machines();
  for (const v1::PoolRecord::Machine& machine : record.machines()) {
    WatchedMachine& watched = pool.machines[machine.id()];
    watched.record = machine;
    watched.record.set_deadline(std::max(machine.deadline(), now + turn.state.tunables.return_seconds));
    watched.seen = turn.now;
  }
  pool.avoid_seconds = record.avoid_seconds();
  if (record.avoid_until() <= now) return;
  pool.avoided = true;
  pool.avoid_until = turn.now + std::min(record.avoid_until() - now, record.avoid_seconds());
}

v1::PoolRecord RecordOf(const PoolState& pool) {
  v1::PoolRecord record = pool.record;
  for (const auto& [id, machine] : pool.machines) {
    if (!machine.registered) *record.add_machines() = machine.record;
  }
  return record;
}

void TakeMachines(Turn& turn, PoolState& pool, const PoolReported& report) {
  std::set<std::string> there;
  for (const PoolMachine& told : report.machines) {
    if (IsWatched(told)) there.insert(told.id);
  }
  // `missing` maps the nodes of machines that the provider does not list any more to the ids of these machines.
  std::map<std::string, std::string> missing;
  for (const auto& [id, machine] : pool.machines) {
    if (there.count(id) == 0) missing[machine.record.node()] = id;
  }
  for (const PoolMachine& told : report.machines) {
    if (!IsWatched(told)) continue;
    const auto same = missing.find(told.node);
    if (pool.machines.count(told.id) == 0 && same != missing.end()) {
      Rename(turn, pool, same->second, told.id);
      missing.erase(same);
    }
    auto known = pool.machines.find(told.id);
    if (known != pool.machines.end() && IsAnother(told, known->second)) {
      Forget(turn, pool, known->second);
      pool.machines.erase(known);
      known = pool.machines.end();
    }
    if (known == pool.machines.end()) {
      pool.machines.emplace(told.id, Watch(turn, pool, told));
      turn.Save(pool);
      turn.Replan();
    } else if (known->second.record.node() != told.node) {
      known->second.record.set_node(told.node);
      turn.Save(pool);
    }
  }
  for (auto it = pool.machines.begin(); it != pool.machines.end();) {
    if (there.count(it->first) > 0) {
      ++it;
      continue;
    }
    Forget(turn, pool, it->second);
    it = pool.machines.erase(it);
  }
}

Watched WatchMachines(Turn& turn, const std::string& name, PoolState& pool) {
  Watched watched;
  const double now = UnixNow(turn);
  const auto wake = [&](double at) { watched.wake_at = std::min(watched.wake_at, turn.now + (at - now)); };
  std::vector<WatchedMachine*> late;
  for (auto& [id, machine] : pool.machines) {
    v1::PoolRecord::Machine& record = machine.record;
    if (machine.registered) continue;
    if (HasRegistered(turn.state, machine)) {
      if (record.overdue()) CountMachine(turn, pool, 0, record);
      Register(turn, pool, machine);
    } else if (record.overdue()) {
      if (now >= record.counted_until() + kCountSeconds) CountMachine(turn, pool, 0, record);
      wake(record.counted_until() + kCountSeconds);
    } else if (now >= record.deadline()) {
      late.push_back(&machine);
    } else {
      wake(record.deadline());
    }
  }
  if (late.empty()) return watched;
  if (!CanTellApart(turn, name, pool)) {
    wake(now + kLookAgainSeconds);
    return watched;
  }
  for (WatchedMachine* machine : late) {
    v1::PoolRecord::Machine& record = machine->record;
    record.set_overdue(true);
    record.set_counted_until(record.since());
    const double spent = pool.record.row_spent();
    CountMachine(turn, pool, 1, record);
    pool.record.set_in_a_row(pool.record.in_a_row() + 1);
    TellOverdue(turn, name, pool, record, pool.record.row_spent() - spent);
    wake(record.counted_until() + kCountSeconds);
  }
  if (pool.record.in_a_row() < turn.state.tunables.never_registered_in_a_row) return watched;
  watched.avoid_because = absl::StrCat(pool.record.in_a_row(), " machines in a row never registered, and have cost ",
                                       Money(pool.record.row_spent(), turn.state.prices.currency),
                                       ": look whether their image starts a worker, and whether it reaches the "
                                       "coordinator with a valid certificate");
  return watched;
}

void FollowClock(const Turn& turn, double step, PoolState& pool) {
  if (step == 0) return;
  for (auto& [id, machine] : pool.machines) {
    v1::PoolRecord::Machine& record = machine.record;
    record.set_since(record.since() + step);
    record.set_deadline(record.deadline() + step);
    if (record.counted_until() > 0) record.set_counted_until(record.counted_until() + step);
    turn.Save(pool);
  }
}

int CountAwaited(const State& state, const PoolState& pool) {
  return static_cast<int>(std::count_if(pool.machines.begin(), pool.machines.end(),
                                        [&](const auto& each) { return IsAwaited(state, each.second); }));
}

std::vector<std::string> Overdue(const PoolState& pool) {
  std::vector<std::string> nodes;
  for (const auto& [id, machine] : pool.machines) {
    if (machine.record.overdue() && !machine.registered) nodes.push_back(machine.record.node());
  }
  return nodes;
}

std::vector<std::string> Unregistered(const State& state, const PoolState& pool) {
  std::vector<std::string> nodes;
  for (const auto& [id, machine] : pool.machines) {
    if (IsAwaited(state, machine)) nodes.push_back(machine.record.node());
  }
  return nodes;
}

}  // namespace rekindle::core
