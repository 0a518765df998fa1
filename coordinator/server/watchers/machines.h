// Opens the providers of a fleet file, and runs the FleetRunner that orders and returns machines until each pool has as
// many as were ordered.
#ifndef REKINDLE_COORDINATOR_SERVER_WATCHERS_MACHINES_H_
#define REKINDLE_COORDINATOR_SERVER_WATCHERS_MACHINES_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "coordinator/fleet/providers/driving/fleet_runner.h"
#include "coordinator/fleet/providers/driving/price_watch.h"
#include "coordinator/fleet/providers/registry/registry.h"
#include "coordinator/market/pool_orders.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::coordinator {

// Machines is thread-safe.
class Machines {
 public:
  struct Options {
    // `fleet` is the path of the fleet file, which is used in messages and for paths that are relative to it.
    std::string fleet;
    // `data` is the coordinator's folder.
    std::string data;
    // `endpoint_file` contains the coordinator's host:port, for local machines.
    std::string endpoint_file;
  };
  // Holds the functions that receive what providers report. See FleetRunner and PriceWatch.
  struct Reports {
    fleet::FleetRunner::Report pool;
    fleet::PriceWatch::Report price;
  };

  explicit Machines(Options options) : options_(std::move(options)) {}
  ~Machines() { Stop(); }

  // Opens the providers and finds the machines that already run. From then on Machines keeps the minimum of each pool
  // and asks for prices. Start must be called at most once. Errors are those of the fleet file, with its name.
  absl::Status Start(const v1::Fleet& fleet, Reports reports);
  // Replaces the fleet file. The providers of the new file get the newest order of each pool. Machines of pools that
  // the file does not contain stay, and the log says so. FAILED_PRECONDITION means that local pools have changed, which
  // needs a restart, or that Stop was called. The other errors are those of Start. After an error everything goes on as
  // before.
  absl::Status Reload(const v1::Fleet& fleet);
  // Orders nodes as FleetRunner does. An order before Start is kept until then.
  void Order(core::PoolOrder order);
  // Sets how many nodes the simulated spot market of a local pool lets run. NOT_FOUND means that there is no such pool.
  // If SetMarket is called before Start, it waits for Start, and returns UNAVAILABLE after 10 s.
  absl::Status SetMarket(const v1::SetMarketRequest& request);
  // Stops ordering and returning machines, and stops reporting. The machines that run go on running.
  void Stop();
  // Lets local machines drain and end within `seconds`. All other machines stay.
  void EndLocal(double seconds);

 private:
  absl::StatusOr<fleet::Providers> Open(const v1::Fleet& fleet) const;
  void Run(std::vector<fleet::Account> accounts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  std::shared_ptr<fleet::LocalProvider> local() const;

  const Options options_;
  // Start, Reload and Stop hold the mutex `changing_`, because they may run at the same time: the loop's thread calls
  // Stop when the coordinator is superseded.
  common::Mutex changing_ ABSL_ACQUIRED_BEFORE(mutex_);
  Reports reports_ ABSL_GUARDED_BY(changing_);
  // `fleet_` is the part of the fleet file that concerns machines.
  v1::Fleet fleet_ ABSL_GUARDED_BY(changing_);
  // `prices_` asks the providers for prices. It is null before Start and after Stop.
  std::unique_ptr<fleet::PriceWatch> prices_ ABSL_GUARDED_BY(changing_);
  mutable common::Mutex mutex_;
  // `orders_` has the newest order of each pool, by the pool's name.
  std::map<std::string, core::PoolOrder> orders_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<fleet::LocalProvider> local_ ABSL_GUARDED_BY(mutex_);
  bool opened_ ABSL_GUARDED_BY(mutex_) = false;
  common::CondVar has_opened_;
  // While `runner_` is null, orders are only kept in `orders_`.
  std::unique_ptr<fleet::FleetRunner> runner_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_WATCHERS_MACHINES_H_
