#include "coordinator/fleet/providers/driving/fleet_runner.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/text/printable.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

constexpr double kCallSeconds = 20;

}  // namespace

class FleetRunner::Worker {
 public:
  Worker(Account account, Report report) : account_(std::move(account)), outlet_(std::move(report)) {
    for (ReconcileOptions pool : account_.pools) {
      pool.chooses_what_ends = account_.provider->ChoosesWhatEnds();
      pools_.emplace(pool.pool, PoolReconciler(pool, common::SteadySeconds()));
    }
  }

  void Order(core::PoolOrder order) {
    const common::MutexLock lock(mutex_);
    pools_.at(order.pool).Order(order, common::SteadySeconds());
    ++orders_;
    changed_.NotifyAll();
  }

  void Stop() {
    {
      const common::MutexLock lock(mutex_);
      stop_ = true;
      changed_.NotifyAll();
    }
    outlet_.Close();
  }

  void Run() {
    common::MutexLock lock(mutex_);
    while (!stop_) {
      const auto [pool, next] = Earliest();
      const double wait = next.at - common::SteadySeconds();
      if (wait > 0) {
        const int64_t seen = orders_;
        changed_.WaitFor(lock, std::chrono::duration<double>(wait),
                         [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || orders_ != seen; });
        continue;
      }
      lock.Unlock();
      absl::Status set;
      absl::StatusOr<Listing> listing = Listing();
      if (next.set) {
        set = account_.provider->SetDesired(pool, next.nodes, next.release, kCallSeconds);
      } else {
        listing = account_.provider->List(pool, kCallSeconds);
        if (listing.ok()) LookFor(pool, next.look_for, &*listing);
      }
      lock.Lock();
      PoolReconciler& reconciler = pools_.at(pool);
      const double now = common::SteadySeconds();
      const double random = std::uniform_real_distribution<double>(0, 1)(random_);
      const auto report = next.set ? reconciler.Set(next, set, now, random) : reconciler.Listed(listing, now, random);
      if (!report) continue;
      lock.Unlock();
      Tell(*report);
      lock.Lock();
    }
  }

 private:
  std::pair<std::string, PoolReconciler::Next> Earliest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::pair<std::string, PoolReconciler::Next> earliest;
    for (const auto& [pool, reconciler] : pools_) {
      PoolReconciler::Next next = reconciler.next();
      if (earliest.first.empty() || next.at < earliest.second.at) earliest = {pool, std::move(next)};
    }
    return earliest;
  }

  void LookFor(const std::string& pool, std::vector<std::string> nodes, Listing* listing) {
    std::erase_if(nodes, [&](const std::string& node) {
      return std::any_of(listing->machines.begin(), listing->machines.end(),
                         [&](const Machine& machine) { return machine.node == node; });
    });
    if (nodes.empty()) return;
    absl::StatusOr<std::vector<std::string>> ended = account_.provider->Ended(pool, nodes, kCallSeconds);
    if (ended.ok()) {
      listing->ended.insert(listing->ended.end(), ended->begin(), ended->end());
      return;
    }
    log::Warning("whether machines of a pool have ended is not known",
                 {{"pool", pool}, {"error", common::Printable(std::string(ended.status().message()), 300)}});
  }

  void Tell(const core::PoolReported& report) {
    if (report.trouble != core::PoolTrouble::kNone) {
      log::Warning("a pool is not as ordered",
                   {{"pool", report.pool}, {"running", report.running}, {"error", report.error}});
    }
    outlet_.Tell(report);
  }

  const Account account_;
  Outlet<core::PoolReported> outlet_;
  // `random_` generates random numbers. Only the account's thread uses it.
  std::mt19937_64 random_{std::random_device{}()};
  common::Mutex mutex_;
  common::CondVar changed_;
  std::map<std::string, PoolReconciler> pools_ ABSL_GUARDED_BY(mutex_);
  int64_t orders_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
};

FleetRunner::FleetRunner(std::vector<Account> accounts, Report report) {
  std::vector<std::shared_ptr<Worker>> workers;
  for (Account& account : accounts) {
    if (account.pools.empty()) continue;
    const std::vector<ReconcileOptions> pools = account.pools;
    workers.push_back(std::make_shared<Worker>(std::move(account), report));
    for (const ReconcileOptions& pool : pools) by_pool_[pool.pool] = workers.back();
  }
  // The threads start only when all pools are in by_pool_, because a report of one pool may make the core order
  // machines for any other.
  threads_.Start(std::move(workers));
}

void FleetRunner::Order(core::PoolOrder order) {
  const auto worker = by_pool_.find(order.pool);
  if (worker == by_pool_.end()) {
    log::Warning("an order of a pool that nobody provides", {{"pool", order.pool}});
    return;
  }
  worker->second->Order(std::move(order));
}

void FleetRunner::Stop() { threads_.Stop(); }

}  // namespace rekindle::fleet
