#include "coordinator/fleet/providers/price_watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <utility>

#include "common/clock.h"
#include "common/log.h"
#include "coordinator/fleet/providers/provider.h"

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
      const std::lock_guard lock(mutex_);
      stop_ = true;
      stopped_.notify_all();
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
      // Who asks us to come back later means all of this account.
      not_before = retry_after ? pool.ask_at : now + options_.gap_seconds;
    }
  }

 private:
  struct Pool {
    std::string name;
    double ask_at = 0;
    int failures = 0;  // In a row.
    double price = 0;  // The newest that was heard.
  };

  // False: stopped.
  bool Sleep(double seconds) {
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return stop_; });
    return !stop_;
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
  std::vector<Pool> pools_;  // The thread's, as is the next.
  std::mt19937_64 random_{std::random_device{}()};
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // Under mutex_.
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
