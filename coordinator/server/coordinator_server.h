// The whole coordinator in one object, as main and tests run it: folder, store, loop, services, metrics.
#ifndef REKINDLE_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
#define REKINDLE_COORDINATOR_SERVER_COORDINATOR_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/disk_space.h"
#include "common/local_token.h"
#include "common/metrics.h"
#include "common/rpc.h"
#include "coordinator/data_folder.h"
#include "coordinator/disk_reserve.h"
#include "coordinator/logs/log_desk.h"
#include "coordinator/reserved_store.h"
#include "coordinator/server/backups.h"
#include "coordinator/server/carbon_watch.h"
#include "coordinator/server/log_streams.h"
#include "coordinator/server/loop.h"
#include "coordinator/server/machines.h"
#include "coordinator/server/metrics_source.h"
#include "coordinator/server/sync_services.h"
#include "coordinator/server/user_service.h"
#include "coordinator/server/voice.h"
#include "coordinator/server/webhook.h"
#include "coordinator/spec/job_spec.h"

namespace rekindle::coordinator {

class CoordinatorServer {
 public:
  struct Options {
    std::string data;  // Folder; created. Holds state.db, lock, endpoint, token, reserve, logs.
    common::ServerOptions rpc;
    // Where it listens on loopback with neither a token file nor TLS: with a token of its own, which its user's
    // programs find. Else whoever may call.
    bool own_token = false;
    std::string advertise;                // host:port for others; empty: the address listened on.
    std::string metrics = "127.0.0.1:0";  // Empty: none. Beyond loopback with the files of `rpc`.
    Defaults defaults;                    // An empty store means file://<data>/checkpoints.
    // What jobs may read: none listed: on loopback whatever this user may, else what their nodes say.
    std::vector<std::string> data_roots;
    std::vector<std::string> store_endpoints;  // HOST[:PORT] that jobs may name, beside that of the default store.
    std::string fleet;                         // Fleet file with prices and machines; empty: there are none.
    bool end_local_machines = false;           // Stop drains and ends them; else they stay for the next coordinator.
    std::string alert_webhook;                 // URL that alerts are posted to; empty: none.
    double listen_seconds = 10;                // After its records were brought back from a copy, before it decides.
    int64_t state_bytes = 4LL << 30;           // What state.db may grow to.
    size_t max_active_jobs = 20'000;           // That are not over.
    uint64_t job_log_bytes = 64 << 20;         // What is kept of the output of a job's trainers,
    uint64_t log_bytes = 4ULL << 30;           // and of all jobs' together.
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
  // For what shows its state, and ends before Stop is called.
  Loop* loop() { return loop_.get(); }
  // What the grids of regions emit now, in g/kWh. Thread-safe.
  std::map<std::string, double> CarbonIntensities() const;

 private:
  CoordinatorServer() = default;
  // `fleet` is resolved. What is known of the feed that was asked so far stays known.
  absl::StatusOr<std::unique_ptr<CarbonWatch>> OpenCarbon(const v1::Fleet& fleet);
  static absl::StatusOr<JobReach> ReachOfJobs(const Options& options);
  absl::Status UseOwnToken(common::Security* security);
  void PublishToken(const common::Security& security);
  absl::Status WriteEndpoint(const std::string& advertise);
  // Once more with what was kept of the disk, where there is no room.
  absl::Status WithReserve(const std::function<absl::Status()>& write);
  void Supersede(const ClusterRecord& record);
  // Those of jobs that are not there any more.
  void RemoveOldLogs();

  common::Metrics metrics_;
  std::string fleet_file_;
  std::optional<DataFolder> folder_;
  std::unique_ptr<StateStore> own_store_;
  std::unique_ptr<DiskReserve> reserve_;
  std::unique_ptr<ReservedStore> reserved_store_;
  std::unique_ptr<Webhook> webhook_;
  std::optional<Voice> voice_;
  std::unique_ptr<LogDesk> desk_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<LogStreams> logs_;
  std::unique_ptr<MetricsSource> metrics_source_;
  mutable std::mutex carbon_mutex_;  // Held where carbon_ is replaced, and where another thread reads it.
  std::unique_ptr<CarbonWatch> carbon_;
  std::unique_ptr<Machines> machines_;
  std::unique_ptr<TrainersService> trainers_;
  std::unique_ptr<NodesService> nodes_;
  std::unique_ptr<Backups> backups_;
  std::unique_ptr<UserService> users_;
  std::unique_ptr<common::Server> server_;
  std::optional<common::PublishedToken> published_token_;
  bool end_local_machines_ = false;
  std::string metrics_address_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_COORDINATOR_SERVER_H_
