// This file simulates a spot market, without the machines. It decides which nodes start, get a preemption notice, and
// end. It is pure.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MARKET_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MARKET_H_

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace rekindle::fleet {

// A MarketTrace says how many machines a market lets run, with one value for each step. The last value holds for ever.
struct MarketTrace {
  std::vector<int> nodes;
  double step_seconds = 60;

  // Returns how many machines run `elapsed` seconds after the beginning of the trace. REQUIRES: the trace has a step.
  int At(double elapsed) const;
  // Returns the seconds until the number of machines changes, or infinity where it does not change any more.
  double UntilChange(double elapsed) const;
};

struct LocalMachine {
  // `number` is the number in the name of the machine's node. It is higher for newer machines.
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
  // `machines` is sorted by age, the oldest machine first.
  std::vector<LocalMachine> machines;
  // `quick_ends` counts machines in a row whose worker ended as soon as it had started.
  int quick_ends = 0;
  // After quick ends of workers, no machine is started before the time `not_before`.
  double not_before = 0;

  // Returns the number of machines that are not about to end.
  int Staying() const;
};

enum class LocalVerb {
  // Start the programs of the machine.
  kStart,
  // Announce that the machine will be killed in `seconds`.
  kNotice,
  // Send SIGTERM to the machine's worker, as a machine's shutdown does.
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

// Makes `nodes` the desired number of machines. Where Staying() is more than that, machines of `release` end first, and
// then the newest. Each of them is stopped, and killed half a minute later.
std::vector<LocalAction> SetDesired(LocalMarket& market, int nodes, const std::vector<std::string>& release,
                                    double now);
// Returns what has to be done at `now`. The newest machines beyond the number that the market allows get a preemption
// notice, or are killed at once where the market gives no notice. Machines whose time is over are killed. Machines that
// are missing are started, as far as the market allows.
std::vector<LocalAction> Advance(LocalMarket& market, double now);
// Removes a machine from the market because its worker has ended, `lived` seconds after its start.
std::vector<LocalAction> Ended(LocalMarket& market, const std::string& node, double lived, double now);
// Returns the time at which Advance has something to do next, or infinity where that depends on other calls.
double NextWake(const LocalMarket& market);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_LOCAL_MARKET_H_
