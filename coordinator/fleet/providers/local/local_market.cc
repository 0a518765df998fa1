#include "coordinator/fleet/providers/local/local_market.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace rekindle::fleet {
namespace {

// A machine that has to stop is killed after `kStopSeconds` seconds, the time that the shutdown of a cloud machine may
// take.
constexpr double kStopSeconds = 30;
constexpr double kQuickEnd = 5;
constexpr double kLongestPause = 60;

bool Stays(const LocalMachine& machine) { return !machine.ends_at; }

void Remove(LocalMarket& market, const std::string& node) {
  std::erase_if(market.machines, [&](const LocalMachine& m) { return m.node == node; });
}

// Returns the machine to end next. It is the newest one that is not about to end already, but the machines of `first`
// end before all others. REQUIRES: there is a machine that is not about to end.
LocalMachine& Leaver(LocalMarket& market, const std::vector<std::string>& first) {
  LocalMachine* leaver = nullptr;
  bool named = false;
  for (LocalMachine& machine : market.machines) {
    if (!Stays(machine)) continue;
    const bool is_named = std::find(first.begin(), first.end(), machine.node) != first.end();
    if (named && !is_named) continue;
    leaver = &machine;
    named = is_named;
  }
  return *leaver;
}

}  // namespace

int MarketTrace::At(double elapsed) const {
  const double step = std::clamp(std::floor(elapsed / step_seconds), 0.0, static_cast<double>(nodes.size() - 1));
  return nodes[static_cast<size_t>(step)];
}

double MarketTrace::UntilChange(double elapsed) const {
  const int value = At(elapsed);
  for (size_t i = static_cast<size_t>(std::max(0.0, elapsed / step_seconds)); i < nodes.size(); ++i) {
    if (nodes[i] != value) return static_cast<double>(i) * step_seconds - elapsed;
  }
  return std::numeric_limits<double>::infinity();
}

int LocalMarket::Staying() const { return static_cast<int>(std::count_if(machines.begin(), machines.end(), Stays)); }

std::vector<LocalAction> SetDesired(LocalMarket& market, int nodes, const std::vector<std::string>& release,
                                    double now) {
  std::vector<LocalAction> actions;
  market.desired = nodes;
  while (market.Staying() > nodes) {
    LocalMachine& leaver = Leaver(market, release);
    if (!leaver.started) {
      Remove(market, std::string(leaver.node));
      continue;
    }
    leaver.ends_at = now + kStopSeconds;
    actions.push_back({LocalVerb::kStop, leaver.node});
  }
  return actions;
}

std::vector<LocalAction> Advance(LocalMarket& market, double now) {
  std::vector<LocalAction> actions;
  while (market.Staying() > market.allowed) {
    LocalMachine& leaver = Leaver(market, {});
    if (!leaver.started) {
      Remove(market, std::string(leaver.node));
      continue;
    }
    leaver.ends_at = now + market.notice_seconds;
    if (market.notice_seconds > 0) actions.push_back({LocalVerb::kNotice, leaver.node, market.notice_seconds});
  }
  for (const LocalMachine& machine : market.machines) {
    if (machine.ends_at && *machine.ends_at <= now) actions.push_back({LocalVerb::kKill, machine.node});
  }
  std::erase_if(market.machines, [now](const LocalMachine& m) { return m.ends_at && *m.ends_at <= now; });
  const int wanted = std::min(market.desired, market.allowed);
  while (market.Staying() < wanted && now >= market.not_before) {
    LocalMachine machine{.number = market.next_number++, .node = "", .starts_at = now + market.boot_seconds};
    machine.node = absl::StrCat(market.prefix, "-", machine.number);
    market.machines.push_back(std::move(machine));
  }
  for (LocalMachine& machine : market.machines) {
    if (machine.started || machine.starts_at > now) continue;
    machine.started = true;
    actions.push_back({LocalVerb::kStart, machine.node});
  }
  return actions;
}

std::vector<LocalAction> Ended(LocalMarket& market, const std::string& node, double lived, double now) {
  Remove(market, node);
  market.quick_ends = lived < kQuickEnd ? market.quick_ends + 1 : 0;
  if (market.quick_ends > 0) market.not_before = now + std::min(kLongestPause, static_cast<double>(market.quick_ends));
  return {{LocalVerb::kKill, node}};
}

double NextWake(const LocalMarket& market) {
  double next = std::numeric_limits<double>::infinity();
  if (market.Staying() < std::min(market.desired, market.allowed)) next = market.not_before;
  for (const LocalMachine& machine : market.machines) {
    if (!machine.started) next = std::min(next, machine.starts_at);
    if (machine.ends_at) next = std::min(next, *machine.ends_at);
  }
  return next;
}

}  // namespace rekindle::fleet
