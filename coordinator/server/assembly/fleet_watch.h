// Keeps in force what the fleet file says: machines, what nodes cost, and what the power grids emit.
#ifndef REKINDLE_COORDINATOR_SERVER_ASSEMBLY_FLEET_WATCH_H_
#define REKINDLE_COORDINATOR_SERVER_ASSEMBLY_FLEET_WATCH_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/market/carbon.h"
#include "coordinator/market/prices.h"
#include "coordinator/server/watchers/carbon_watch.h"
#include "coordinator/server/watchers/machines.h"
#include "rekindle/v1/fleet.pb.h"

namespace rekindle::coordinator {

// Only one thread at a time may call Start, Reload, Stop and prices. The other functions are thread-safe.
class FleetWatch {
 public:
  // Holds the functions that are called when machines, prices or carbon intensity change. None is called before Start.
  struct Reports {
    Machines::Reports machines;
    std::function<void(core::PriceBook)> prices;
    std::function<void(core::CarbonBook)> carbon;
  };

  // Reads the fleet file. An empty path stands for no fleet file. `wall` returns Unix time and must be thread-safe. The
  // errors are mistakes in the fleet file, and name the file.
  static absl::StatusOr<std::unique_ptr<FleetWatch>> Open(Machines::Options options, Reports reports,
                                                          common::TimeSource wall);
  ~FleetWatch() { Stop(); }

  // Opens the providers and looks for changes of carbon intensity from now on. The errors are those of Machines::Start.
  absl::Status Start();
  // Reads the fleet file again: prices, all machines except local ones, and where carbon intensity comes from. The
  // errors are those of Open and Machines::Reload. After an error everything stays as it is.
  absl::Status Reload();
  // Stops ordering and returning machines, and stops reporting changes. The machines that run go on running.
  void Stop();

  // Returns what nodes cost, as the fleet file said when it was read last.
  const core::PriceBook& prices() const { return prices_; }
  core::CarbonBook carbon() const;
  // Returns what the power grids of regions emit now, in g/kWh.
  std::map<std::string, double> CarbonIntensities() const;
  Machines& machines() { return machines_; }

 private:
  FleetWatch(Machines::Options options, Reports reports, common::TimeSource wall);
  // Opens the watch of carbon intensity that `fleet` describes. If its feed is the same as before, what is known of
  // that feed stays known. REQUIRES: `fleet` is resolved.
  absl::StatusOr<std::unique_ptr<CarbonWatch>> OpenCarbon(const v1::Fleet& fleet) const;

  const std::string file_;
  const Reports reports_;
  const common::TimeSource wall_;
  Machines machines_;
  v1::Fleet fleet_;
  core::PriceBook prices_;
  mutable common::Mutex mutex_;
  std::unique_ptr<CarbonWatch> carbon_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_ASSEMBLY_FLEET_WATCH_H_
