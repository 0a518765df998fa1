// This file asks price sources for prices every few minutes. Each account has its own thread, apart from the threads
// that order machines, so that a slow source holds up neither orders nor other accounts.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_PRICE_WATCH_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_PRICE_WATCH_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/time/retry.h"
#include "coordinator/fleet/providers/contract/price_source.h"
#include "coordinator/fleet/providers/driving/worker_threads.h"
#include "coordinator/market/prices.h"

namespace rekindle::fleet {

// A PricedAccount holds the pools whose prices come from one source.
struct PricedAccount {
  std::string name;
  std::shared_ptr<PriceSource> source;
  std::vector<std::string> pools;
};

struct PriceWatchOptions {
  double interval_seconds = 300;
  // `gap_seconds` is the shortest pause between two requests for pools of the same account.
  double gap_seconds = 1;
  common::RetryPolicy backoff = {.first_seconds = 60, .longest_seconds = 3600};
};

// Returns the seconds until the source is asked for a pool's price again, after `failures` failures in a row.
// `retry_after` is the pause that the source asked for. A jitter of a tenth keeps coordinators that started together
// from asking together. `random` is in [0, 1).
double NextAskSeconds(const PriceWatchOptions& options, int failures, std::optional<double> retry_after, double random);

// A PriceWatch is thread-safe.
class PriceWatch {
 public:
  // A Report is the function that gets each price that a source returns. It runs on the account's thread and must not
  // block for long. It is not called any more once Stop has returned.
  using Report = std::function<void(const core::PriceHeard&)>;

  PriceWatch(std::vector<PricedAccount> accounts, Report report, const PriceWatchOptions& options = {});
  ~PriceWatch() { Stop(); }
  PriceWatch(const PriceWatch&) = delete;

  // Stops the threads. A call that still runs after a second is left to end by itself.
  void Stop();

 private:
  class Worker;
  WorkerThreads<Worker> threads_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_PRICE_WATCH_H_
