// The machines of a fleet file: its providers, and what keeps their pools as ordered.
#ifndef REKINDLE_COORDINATOR_SERVER_MACHINES_H_
#define REKINDLE_COORDINATOR_SERVER_MACHINES_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "coordinator/core/pool_orders.h"
#include "coordinator/fleet/providers/fleet_runner.h"
#include "coordinator/fleet/providers/registry.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

// Thread-safe.
class Machines {
 public:
  struct Options {
    std::string fleet;          // File; empty: there are no machines to be had.
    std::string data;           // The coordinator's folder.
    std::string endpoint_file;  // Where its host:port is, for local machines.
  };

  explicit Machines(Options options) : options_(std::move(options)) {}
  ~Machines() { Stop(); }

  // Opens the providers, looks for what runs, and keeps the pools' least from now on. Once. Errors are those of the
  // fleet file, with its name.
  absl::Status Start(fleet::FleetRunner::Report report);
  // See FleetRunner. Kept until Start.
  void Order(core::PoolOrder order);
  // What a local pool's market lets run. NOT_FOUND: there is no such pool.
  absl::Status SetMarket(const v1::SetMarketRequest& request);
  // Nothing is bought, returned or reported from now on; machines stay.
  void Stop();
  // Local machines drain and end, within `seconds`; all others stay.
  void EndLocal(double seconds);

 private:
  const Options options_;
  std::mutex mutex_;
  std::map<std::string, core::PoolOrder> waiting_;  // Under mutex_, as are the next. By pool.
  std::shared_ptr<fleet::LocalProvider> local_;
  std::unique_ptr<fleet::FleetRunner> runner_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_MACHINES_H_
