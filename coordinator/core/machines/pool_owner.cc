#include "coordinator/core/machines/pool_owner.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

constexpr size_t kMostNamed = 3;

void TellNotOurs(Turn& turn, const std::string& name, PoolState& pool) {
  pool.told_not_ours = true;
  const int running = pool.reported.running;
  std::vector<std::string> some;
  for (const PoolMachine& machine : pool.reported.machines) {
    if (some.size() < kMostNamed) some.push_back(Bounded(machine.id, 100));
  }
  turn.Emit(
      nullptr, "pool_not_ours",
      absl::StrCat("pool ", name, " is left as it is: ", running, running == 1 ? " machine runs" : " machines run",
                   " there", some.empty() ? "" : absl::StrCat(", as ", JoinWords(some)),
                   ", that this cluster has not ordered, and no node of the pool has registered here: if another "
                   "cluster uses it, name another group in the fleet file; if none does, end what runs there"));
}

// Notes that no machine of another cluster runs in the pool, so that it may be used.
void MayBeUsed(Turn& turn, const std::string& name, PoolState& pool) {
  if (std::exchange(pool.not_ours_since, kNever) != kNever) turn.Replan();
  if (std::exchange(pool.told_not_ours, false)) {
    turn.Emit(nullptr, "pool_retried",
              absl::StrCat("pool ", name, " may be tried: nothing runs there that is not this cluster's"));
  }
}

}  // namespace

bool IsOurs(const State& state, const std::string& name, const PoolState& pool) {
  if (pool.record.ours()) return true;
  return std::any_of(state.nodes.begin(), state.nodes.end(),
                     [&](const auto& node) { return node.second.record.pool() == name; });
}

void SetOurs(const Turn& turn, PoolState& pool) {
  if (pool.record.ours()) return;
  pool.record.set_ours(true);
  turn.Save(pool);
}

void TakeOwner(Turn& turn, const std::string& name, PoolState& pool, const PoolReported& report) {
  if (IsOurs(turn.state, name, pool) || (!report.not_ours && pool.is_told && pool.told.nodes > 0)) SetOurs(turn, pool);
  if (!report.not_ours || pool.record.ours()) return MayBeUsed(turn, name, pool);
  if (pool.not_ours_since != kNever) return;
  pool.not_ours_since = turn.now;
  turn.Replan();
}

double WatchOwner(Turn& turn, const std::string& name, PoolState& pool) {
  if (pool.not_ours_since == kNever) return kNever;
  if (IsOurs(turn.state, name, pool)) {
    SetOurs(turn, pool);
    MayBeUsed(turn, name, pool);
    return kNever;
  }
  const double at = pool.not_ours_since + turn.state.tunables.return_seconds;
  if (turn.now < at) return at;
  if (!pool.told_not_ours) TellNotOurs(turn, name, pool);
  return kNever;
}

}  // namespace rekindle::core
