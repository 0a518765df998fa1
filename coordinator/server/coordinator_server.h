// The whole coordinator in one object, as main and tests run it: folder, store, loop, services, metrics.
#ifndef REKINDLE_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
#define REKINDLE_COORDINATOR_SERVER_COORDINATOR_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/disk_space.h"
#include "common/metrics.h"
#include "common/rpc.h"
#include "coordinator/data_folder.h"
#include "coordinator/disk_reserve.h"
#include "coordinator/job_spec.h"
#include "coordinator/reserved_store.h"
#include "coordinator/server/backups.h"
#include "coordinator/server/carbon_watch.h"
#include "coordinator/server/loop.h"
#include "coordinator/server/machines.h"
#include "coordinator/server/sync_services.h"
#include "coordinator/server/user_service.h"
#include "coordinator/server/voice.h"
#include "coordinator/server/webhook.h"

namespace rekindle::coordinator {

class CoordinatorServer {
 public:
  struct Options {
    std::string data;  // Folder; created. Holds state.db, lock, endpoint, reserve.
    common::ServerOptions rpc;
    std::string advertise;                // host:port for others; empty: the address listened on.
    std::string metrics = "127.0.0.1:0";  // Empty: none.
    Defaults defaults;                    // An empty store means file://<data>/checkpoints.
    std::string fleet;                    // Fleet file with prices and machines; empty: there are none.
    bool end_local_machines = false;      // Stop drains and ends them; else they stay for the next coordinator.
    std::string alert_webhook;            // URL that alerts are posted to; empty: none.
    double listen_seconds = 10;           // After its records were brought back from a copy, before it decides.
    int64_t state_bytes = 4LL << 30;      // What state.db may grow to.
    core::Tunables tunables;
    Loop::Clocks clocks;
    std::function<void(const absl::Status&)> on_fatal = [](const absl::Status&) {};
    StateStore* store = nullptr;  // For tests: instead of the one in the folder. Not owned.
    double backup_stalled_seconds = 60;
    std::function<absl::StatusOr<DiskSpace>(const std::string&)> disk_space = common::SpaceOf;  // Of the folder.
  };

  // Listens when it returns. Errors are those of the parts; each says what to do.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Start(Options options);
  ~CoordinatorServer() { Stop(); }

  // Answers what waits, finishes running calls, closes the store. Idempotent.
  void Stop();

  // Reads the fleet file again: prices, machines but local ones, and where carbon intensity comes from. Errors, as of
  // Start and Machines::Reload, leave all as they are. Not from two threads at once.
  absl::Status ReloadFleet();

  const std::string& address() const { return server_->address(); }
  const std::string& metrics_address() const { return metrics_address_; }  // Empty: none.

 private:
  CoordinatorServer() = default;
  // `fleet` is resolved. What is known of the feed that was asked so far stays known.
  absl::StatusOr<std::unique_ptr<CarbonWatch>> OpenCarbon(const v1::Fleet& fleet);
  absl::Status WriteEndpoint(const std::string& advertise);
  void Supersede(const ClusterRecord& record);

  common::Metrics metrics_;
  std::string fleet_file_;
  std::optional<DataFolder> folder_;
  std::unique_ptr<StateStore> own_store_;
  std::unique_ptr<DiskReserve> reserve_;
  std::unique_ptr<ReservedStore> reserved_store_;
  std::unique_ptr<Webhook> webhook_;
  std::optional<Voice> voice_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<CarbonWatch> carbon_;
  std::unique_ptr<Machines> machines_;
  std::unique_ptr<TrainersService> trainers_;
  std::unique_ptr<NodesService> nodes_;
  std::unique_ptr<Backups> backups_;
  std::unique_ptr<UserService> users_;
  std::unique_ptr<common::Server> server_;
  bool end_local_machines_ = false;
  std::string metrics_address_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
