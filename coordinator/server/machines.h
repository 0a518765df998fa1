// The machines of a fleet file: its providers, and what keeps their pools as ordered.
#ifndef REKINDLE_COORDINATOR_SERVER_MACHINES_H_
#define REKINDLE_COORDINATOR_SERVER_MACHINES_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/core/pool_orders.h"
#include "coordinator/fleet/providers/fleet_runner.h"
#include "coordinator/fleet/providers/price_watch.h"
#include "coordinator/fleet/providers/registry.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::coordinator {

// Thread-safe.
class Machines {
 public:
  struct Options {
    std::string fleet;          // Its file, for messages and for what is beside it.
    std::string data;           // The coordinator's folder.
    std::string endpoint_file;  // Where its host:port is, for local machines.
  };
  // Whom to tell what providers say; see FleetRunner and PriceWatch.
  struct Reports {
    fleet::FleetRunner::Report pool;
    fleet::PriceWatch::Report price;
  };

  explicit Machines(Options options) : options_(std::move(options)) {}
  ~Machines() { Stop(); }

  // Opens the providers, looks for what runs, keeps the pools' least and asks for prices from now on. Once. Errors are
  // those of the fleet file, with its name.
  absl::Status Start(const v1::Fleet& fleet, Reports reports);
  // Goes on with another fleet file: orders that stand are given to its providers. Machines of pools that it does not
  // have stay, and are told in the log. FAILED_PRECONDITION: local pools have changed, which needs a restart; then, and
  // with errors as of Start, all goes on as before. Not beside Stop.
  absl::Status Reload(const v1::Fleet& fleet);
  // See FleetRunner. Kept until Start.
  void Order(core::PoolOrder order);
  // What a local pool's market lets run. NOT_FOUND: there is no such pool. Before Start it waits for that, and after 10
  // s it is UNAVAILABLE.
  absl::Status SetMarket(const v1::SetMarketRequest& request);
  // Nothing is bought, returned or reported from now on; machines stay.
  void Stop();
  // Local machines drain and end, within `seconds`; all others stay.
  void EndLocal(double seconds);

 private:
  absl::StatusOr<fleet::Providers> Open(const v1::Fleet& fleet) const;
  void Run(std::vector<fleet::Account> accounts);

  const Options options_;
  Reports reports_;
  v1::Fleet fleet_;  // Only what concerns machines.
  std::unique_ptr<fleet::PriceWatch> prices_;
  std::mutex mutex_;
  std::map<std::string, core::PoolOrder> orders_;  // Under mutex_, as are the next. The newest, by pool.
  std::shared_ptr<fleet::LocalProvider> local_;
  bool opened_ = false;
  std::condition_variable has_opened_;
  std::unique_ptr<fleet::FleetRunner> runner_;  // Null: orders wait.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_MACHINES_H_
