// Asks sources of prices every few minutes: a thread an account, beside those that order machines, so that one that is
// slow holds up neither orders nor other accounts.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICE_WATCH_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICE_WATCH_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/retry.h"
#include "coordinator/core/prices.h"
#include "coordinator/fleet/providers/price_source.h"
#include "coordinator/fleet/providers/worker_threads.h"

namespace rekindle::fleet {

// Pools whose prices one source tells.
struct PricedAccount {
  std::string name;
  std::shared_ptr<PriceSource> source;
  std::vector<std::string> pools;
};

struct PriceWatchOptions {
  double interval_seconds = 300;
  double gap_seconds = 1;  // Between two pools of an account, at least.
  common::RetryPolicy backoff = {.first_seconds = 60, .longest_seconds = 3600};
};

// Until the next question, after so many failures in a row; `retry_after`: what the source asked for. With jitter of a
// tenth, so that coordinators that started together do not ask together. `random` is in [0, 1).
double NextAskSeconds(const PriceWatchOptions& options, int failures, std::optional<double> retry_after, double random);

// Thread-safe.
class PriceWatch {
 public:
  // On the account's thread, with each answer; must not block for long. Not called once Stop has returned.
  using Report = std::function<void(const core::PriceHeard&)>;

  PriceWatch(std::vector<PricedAccount> accounts, Report report, const PriceWatchOptions& options = {});
  ~PriceWatch() { Stop(); }
  PriceWatch(const PriceWatch&) = delete;

  // A call that runs is left to end by itself after a second.
  void Stop();

 private:
  class Worker;
  WorkerThreads<Worker> threads_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICE_WATCH_H_
