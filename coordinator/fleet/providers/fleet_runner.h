// Keeps pools as they were ordered: a thread an account of a provider, so that one that is slow or lies holds up nobody
// else. Orders in, reports out; what to ask next is decided in reconcile.h.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_FLEET_RUNNER_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_FLEET_RUNNER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/pool_orders.h"
#include "coordinator/fleet/providers/provider.h"
#include "coordinator/fleet/providers/reconcile.h"
#include "coordinator/fleet/providers/worker_threads.h"

namespace rekindle::fleet {

// Pools that share one provider, and with it credentials and a limit of requests.
struct Account {
  std::string name;
  std::shared_ptr<Provider> provider;
  std::vector<ReconcileOptions> pools;
};

// Thread-safe.
class FleetRunner {
 public:
  // On the account's thread; must not block for long, and may call Order. Not called once Stop has returned.
  using Report = std::function<void(const core::PoolReported&)>;

  FleetRunner(std::vector<Account> accounts, Report report);
  ~FleetRunner() { Stop(); }
  FleetRunner(const FleetRunner&) = delete;

  // Returns at once. An order of a pool that no account has is logged, and nothing else.
  void Order(core::PoolOrder order);
  // Machines stay as they are. A call that runs is left to end by itself after a second.
  void Stop();

 private:
  class Worker;
  std::map<std::string, std::shared_ptr<Worker>> by_pool_;
  WorkerThreads<Worker> threads_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_FLEET_RUNNER_H_
