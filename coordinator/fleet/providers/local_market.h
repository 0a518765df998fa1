// A spot market on this machine, without the machine: which nodes start, are told to go, and go. Pure.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_MARKET_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_MARKET_H_

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace rekindle::fleet {

// What a market lets run, one value a step; the last one stays.
struct MarketTrace {
  std::vector<int> nodes;
  double step_seconds = 60;

  // REQUIRES: it has a step.
  int At(double elapsed) const;
  // Seconds until it has another value; infinity: it keeps this one.
  double UntilChange(double elapsed) const;
};

struct LocalMachine {
  int number = 0;  // Grows: the highest is the newest.
  std::string node;
  double starts_at = 0;           // When its boot is over.
  bool started = false;           // Its programs run.
  std::optional<double> ends_at;  // When it will be killed: it has a notice, or was asked to stop.
};

// Seconds of any clock.
struct LocalMarket {
  std::string prefix;  // Of its nodes' names.
  int allowed = 0;     // What the market lets run.
  double notice_seconds = 0;
  double boot_seconds = 0;
  int desired = 0;
  int next_number = 1;
  std::vector<LocalMachine> machines;  // The oldest first.
  int quick_ends = 0;                  // In a row: machines whose worker ended as soon as it had started.
  double not_before = 0;               // For that, none is started before.

  // Machines that are not about to go.
  int Staying() const;
};

enum class LocalVerb {
  kStart,   // Its programs.
  kNotice,  // It will be killed in `seconds`.
  kStop,    // SIGTERM, as a machine's shutdown sends.
  kKill,    // All that it runs, and its folder.
};
struct LocalAction {
  LocalVerb verb;
  std::string node;
  double seconds = 0;
  bool operator==(const LocalAction&) const = default;
};

// Wants `nodes`; those of `release` go first, then the newest. They are stopped, and killed half a minute later.
std::vector<LocalAction> SetDesired(LocalMarket& market, int nodes, const std::vector<std::string>& release,
                                    double now);
// What is due at `now`: the newest beyond what is allowed are noticed, or killed where nobody is told; what was to be
// killed is; new machines come for those that are missing, as far as the market allows.
std::vector<LocalAction> Advance(LocalMarket& market, double now);
// The worker of a machine has ended, `lived` seconds after its start: the machine goes.
std::vector<LocalAction> Ended(LocalMarket& market, const std::string& node, double lived, double now);
// When Advance has something to do next; infinity: when something else happens.
double NextWake(const LocalMarket& market);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_LOCAL_MARKET_H_
