// This file makes providers run as many machines in each pool as were ordered, and passes on what the providers report.
// Each account of a provider has its own thread, so that a slow or faulty provider does not delay the others.
// reconcile.h decides what to ask the provider next.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_FLEET_RUNNER_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_FLEET_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/driving/reconcile.h"
#include "coordinator/fleet/providers/driving/worker_threads.h"
#include "coordinator/market/pool_orders.h"

namespace rekindle::fleet {

// An Account holds the pools that share one Provider object, and so its credentials and its limit on requests.
struct Account {
  std::string name;
  std::shared_ptr<Provider> provider;
  std::vector<ReconcileOptions> pools;
};

// A FleetRunner is thread-safe.
class FleetRunner {
 public:
  // A Report is the function that gets the reports about pools. It runs on the thread of the pool's account, must not
  // block for long, and may call Order. It is not called any more once Stop has returned.
  using Report = std::function<void(const core::PoolReported&)>;

  FleetRunner(std::vector<Account> accounts, Report report);
  ~FleetRunner() { Stop(); }
  FleetRunner(const FleetRunner&) = delete;

  // Passes the order to the thread of the pool's account and returns at once. An order for a pool that belongs to no
  // account is only logged.
  void Order(core::PoolOrder order);
  // Stops the threads and leaves the machines as they are. A call that still runs after a second is left to end by
  // itself.
  void Stop();

 private:
  class Worker;
  std::map<std::string, std::shared_ptr<Worker>> by_pool_;
  WorkerThreads<Worker> threads_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_DRIVING_FLEET_RUNNER_H_
