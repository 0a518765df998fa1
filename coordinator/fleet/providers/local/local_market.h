// This file is a spot market without the machines. It decides which nodes start, get a notice, and end. It is pure.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MARKET_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MARKET_H_

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace rekindle::fleet {

// A MarketTrace says how many machines a market lets run, with one value for each step. The last value stays.
struct MarketTrace {
  std::vector<int> nodes;
  double step_seconds = 60;

  // Returns the value after `elapsed` seconds. REQUIRES: the trace has a step.
  int At(double elapsed) const;
  // Returns the seconds until the value changes, or infinity where it does not change any more.
  double UntilChange(double elapsed) const;
};

struct LocalMachine {
  // `number` grows, so the newest machine has the highest.
  int number = 0;
  std::string node;
  // `starts_at` is the time when the machine has booted.
  double starts_at = 0;
  // `started` says that the machine's programs run.
  bool started = false;
  // `ends_at` is the time when the machine will be killed. It is set where the machine has a notice or was asked to
  // stop.
  std::optional<double> ends_at;
};

// The times of a LocalMarket are in seconds of any clock.
struct LocalMarket {
  // `prefix` begins the names of the market's nodes.
  std::string prefix;
  // `allowed` is how many machines the market lets run.
  int allowed = 0;
  double notice_seconds = 0;
  double boot_seconds = 0;
  int desired = 0;
  int next_number = 1;
  // `machines` has the oldest machine in front.
  std::vector<LocalMachine> machines;
  // `quick_ends` counts machines in a row whose worker ended as soon as it had started.
  int quick_ends = 0;
  // After quick ends, no machine is started before this time.
  double not_before = 0;

  // Returns the number of machines that are not about to end.
  int Staying() const;
};

enum class LocalVerb {
  // Start the programs of the machine.
  kStart,
  // Announce that the machine will be killed in `seconds`.
  kNotice,
  // Send SIGTERM, as a machine's shutdown does.
  kStop,
  // Kill everything that the machine runs, and remove its folder.
  kKill,
};
struct LocalAction {
  LocalVerb verb;
  std::string node;
  double seconds = 0;
  bool operator==(const LocalAction&) const = default;
};

// Makes `nodes` the desired number of machines. Where fewer are wanted, those of `release` go first, and then the
// newest. They are stopped, and killed half a minute later.
std::vector<LocalAction> SetDesired(LocalMarket& market, int nodes, const std::vector<std::string>& release,
                                    double now);
// Returns what is due at `now`. The newest machines beyond what is allowed get a notice, or are killed at once where
// the market gives no notice. Machines whose time is over are killed. New machines come for those that are missing, as
// far as the market allows.
std::vector<LocalAction> Advance(LocalMarket& market, double now);
// Removes a machine whose worker has ended, `lived` seconds after its start.
std::vector<LocalAction> Ended(LocalMarket& market, const std::string& node, double lived, double now);
// Returns when Advance has something to do next. It is infinity where that depends on something else.
double NextWake(const LocalMarket& market);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MARKET_H_
