#include "coordinator/fleet/providers/driving/price_watch.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {

double NextAskSeconds(const PriceWatchOptions& options, int failures, std::optional<double> retry_after,
                      double random) {
  if (failures == 0) return options.interval_seconds * (0.9 + 0.2 * random);
  return std::max(retry_after.value_or(0), common::BackoffSeconds(options.backoff, failures, random));
}

class PriceWatch::Worker {
 public:
  Worker(PricedAccount account, Report report, const PriceWatchOptions& options)
      : account_(std::move(account)), options_(options), outlet_(std::move(report)) {
    for (const std::string& pool : account_.pools) pools_.push_back({.name = pool});
  }

  void Stop() {
    {
      const common::MutexLock lock(mutex_);
      stop_ = true;
      stopped_.NotifyAll();
    }
    outlet_.Close();
  }

  void Run() {
    double not_before = 0;
    while (true) {
      Pool& pool = *std::min_element(pools_.begin(), pools_.end(),
                                     [](const Pool& a, const Pool& b) { return a.ask_at < b.ask_at; });
      if (!Sleep(std::max(pool.ask_at, not_before) - common::SteadySeconds())) return;
      const absl::StatusOr<double> price = account_.source->Ask(pool.name);
      Note(price, pool);
      const double random = std::uniform_real_distribution<double>(0, 1)(random_);
      const std::optional<double> retry_after = RetryAfter(price.status());
      const double now = common::SteadySeconds();
      pool.ask_at = now + NextAskSeconds(options_, pool.failures, retry_after, random);
      // When a source asks for a pause, the pause holds for all pools of the account, so the source is asked for none
      // of their prices before the pause ends.
      not_before = retry_after ? pool.ask_at : now + options_.gap_seconds;
    }
  }

 private:
  struct Pool {
    std::string name;
    double ask_at = 0;
    // `failures` counts how often in a row the source did not give the pool's price.
    int failures = 0;
    // `price` is the newest price of the pool that was received.
    double price = 0;
  };

  // Waits for `seconds`. Returns false where the worker was stopped.
  bool Sleep(double seconds) {
    common::MutexLock lock(mutex_);
    return !stopped_.WaitFor(lock, std::chrono::duration<double>(seconds),
                             [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_; });
  }

  void Note(const absl::StatusOr<double>& price, Pool& pool) {
    pool.failures = price.ok() ? 0 : pool.failures + 1;
    if (pool.failures == 1) {
      log::Warning("a price cannot be heard; asking on, more and more seldom",
                   {{"pool", pool.name}, {"error", std::string(price.status().message())}});
    }
    if (!price.ok()) return;
    if (!outlet_.Tell({pool.name, *price})) return;
    if (*price != pool.price) log::Info("a price was heard", {{"pool", pool.name}, {"price", *price}});
    pool.price = *price;
  }

  const PricedAccount account_;
  const PriceWatchOptions options_;
  Outlet<core::PriceHeard> outlet_;
  // `pools_` holds the account's pools, and `random_` generates random numbers. Only the account's thread uses them.
  std::vector<Pool> pools_;
  std::mt19937_64 random_{std::random_device{}()};
  common::Mutex mutex_;
  common::CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

PriceWatch::PriceWatch(std::vector<PricedAccount> accounts, Report report, const PriceWatchOptions& options) {
  std::vector<std::shared_ptr<Worker>> workers;
  for (PricedAccount& account : accounts) {
    if (account.pools.empty()) continue;
    workers.push_back(std::make_shared<Worker>(std::move(account), report, options));
  }
  threads_.Start(std::move(workers));
}

void PriceWatch::Stop() { threads_.Stop(); }

}  // namespace rekindle::fleet
