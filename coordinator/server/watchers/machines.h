// Runs the machines of a fleet file: its providers, and the runner that keeps their pools at what was ordered.
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

// This class is thread-safe.
class Machines {
 public:
  struct Options {
    // `fleet` is the path of the fleet file, which is used in messages and for paths beside it.
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

  // Opens the providers, looks for what runs, keeps the minimum of each pool and asks for prices from now on. It must
  // be called at most once. Errors are those of the fleet file, with its name.
  absl::Status Start(const v1::Fleet& fleet, Reports reports);
  // Goes on with another fleet file, whose providers get the orders that stand. Machines of pools that the file does
  // not contain stay, and the log says so. FAILED_PRECONDITION means that local pools have changed, which needs a
  // restart, or that the machines were stopped. After this and all errors of Start everything goes on as before.
  absl::Status Reload(const v1::Fleet& fleet);
  // Orders nodes as FleetRunner does. An order before Start is kept until then.
  void Order(core::PoolOrder order);
  // Sets how many nodes a local pool's market lets run. NOT_FOUND means that there is no such pool. A call before
  // Start waits for it, and is UNAVAILABLE after 10 s.
  absl::Status SetMarket(const v1::SetMarketRequest& request);
  // Ends buying, returning and reporting. The machines stay.
  void Stop();
  // Lets local machines drain and end within `seconds`. All other machines stay.
  void EndLocal(double seconds);

 private:
  absl::StatusOr<fleet::Providers> Open(const v1::Fleet& fleet) const;
  void Run(std::vector<fleet::Account> accounts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(changing_);
  std::shared_ptr<fleet::LocalProvider> local() const;

  const Options options_;
  // `changing_` is held during Start, Reload and Stop, because the loop's thread stops the machines of a coordinator
  // that was superseded.
  common::Mutex changing_ ABSL_ACQUIRED_BEFORE(mutex_);
  Reports reports_ ABSL_GUARDED_BY(changing_);
  // `fleet_` contains only what concerns machines.
  v1::Fleet fleet_ ABSL_GUARDED_BY(changing_);
  // `prices_` is null before Start and after Stop.
  std::unique_ptr<fleet::PriceWatch> prices_ ABSL_GUARDED_BY(changing_);
  mutable common::Mutex mutex_;
  // The value is the newest order of the pool.
  std::map<std::string, core::PoolOrder> orders_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<fleet::LocalProvider> local_ ABSL_GUARDED_BY(mutex_);
  bool opened_ ABSL_GUARDED_BY(mutex_) = false;
  common::CondVar has_opened_;
  // Orders wait while `runner_` is null.
  std::unique_ptr<fleet::FleetRunner> runner_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_WATCHERS_MACHINES_H_
