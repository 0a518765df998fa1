// Holds the whole coordinator in one object, as main and tests run it: folder, store, loop, services and metrics.
#ifndef REKINDLE_COORDINATOR_SERVER_ASSEMBLY_COORDINATOR_SERVER_H_
#define REKINDLE_COORDINATOR_SERVER_ASSEMBLY_COORDINATOR_SERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/files/disk_space.h"
#include "common/metrics/metrics.h"
#include "common/rpc/local_token.h"
#include "common/rpc/rpc.h"
#include "coordinator/bundles/bundle_shelf.h"
#include "coordinator/folder/data_folder.h"
#include "coordinator/logs/log_desk.h"
#include "coordinator/server/assembly/fleet_watch.h"
#include "coordinator/server/assembly/metrics_source.h"
#include "coordinator/server/loop/loop.h"
#include "coordinator/server/services/backups.h"
#include "coordinator/server/services/bundle_desk.h"
#include "coordinator/server/services/log_streams.h"
#include "coordinator/server/services/sync_services.h"
#include "coordinator/server/services/user_service.h"
#include "coordinator/server/services/voice.h"
#include "coordinator/server/watchers/webhook.h"
#include "coordinator/spec/job_spec.h"
#include "coordinator/store/disk_reserve.h"
#include "coordinator/store/reserved_store.h"

namespace rekindle::coordinator {

class CoordinatorServer {
 public:
  struct Options {
    // `data` is the folder for state.db, lock, endpoint, token, reserve and logs. It is created.
    std::string data;
    common::ServerOptions rpc;
    // If `own_token` is true, a coordinator that listens on loopback without a token file and without TLS makes a token
    // of its own, which the programs of the same user find. If it is false, everybody may call such a coordinator.
    bool own_token = false;
    // `advertise` is the host:port with which others call the coordinator. If it is empty, they call the address that
    // the coordinator listens on.
    std::string advertise;
    // `metrics` is the address of the metrics page, and empty for none. Beyond loopback the page uses the keys and
    // certificates of `rpc`.
    std::string metrics = "127.0.0.1:0";
    // `defaults` holds what a job gets for the fields that it leaves out. An empty store in it means
    // file://<data>/checkpoints.
    Defaults defaults;
    // Jobs may read only below the folders `data_roots`. If none is listed, jobs of a coordinator on loopback may read
    // whatever its user may read, and jobs of any other coordinator may read what their nodes allow.
    std::vector<std::string> data_roots;
    // `allow_code` is "off", "on" or "unisolated" (common/agreed/allow_code.h). If it is empty, it is "on" for a
    // coordinator on loopback, and otherwise "off".
    std::string allow_code;
    // Jobs may name the endpoints `store_endpoints`, HOST[:PORT], and that of the default store.
    std::vector<std::string> store_endpoints;
    // `fleet` is the path of the fleet file with prices and machines, and empty for none.
    std::string fleet;
    // If `end_local_machines` is true, Stop drains and ends local machines. Otherwise they stay for the next
    // coordinator.
    bool end_local_machines = false;
    // Alerts are posted to the URL `alert_webhook`. If it is empty, no alert is posted.
    std::string alert_webhook;
    // If the records of the coordinator were brought back from a copy, it listens to nodes and trainers for
    // `listen_seconds` seconds before it decides.
    double listen_seconds = 10;
    // The file state.db may grow to `state_bytes` bytes.
    int64_t state_bytes = 4LL << 30;
    // At most `max_active_jobs` jobs may exist that are not over.
    size_t max_active_jobs = 20'000;
    // At most `job_log_bytes` bytes are kept of the output of one job's trainers.
    uint64_t job_log_bytes = 64 << 20;
    // At most `log_bytes` bytes are kept of the output of all jobs together.
    uint64_t log_bytes = 4ULL << 30;
    // At most `bundle_bytes` bytes are kept of all bundles of code together, and at most a tenth of their disk.
    uint64_t bundle_bytes = 4ULL << 30;
    // Bundles of code are sent and taken at `bundle_rate` bytes a second at most.
    uint64_t bundle_rate = 64 << 20;
    // The call of a client that does not take its piece of a bundle for `bundle_stalled_seconds` seconds is ended.
    double bundle_stalled_seconds = 60;
    core::Tunables tunables;
    Clocks clocks;
    std::function<void(const absl::Status&)> on_fatal = [](const absl::Status&) {};
    // Tests set `store`, which replaces the state store in the folder. The caller keeps its ownership.
    StateStore* store = nullptr;
    double backup_stalled_seconds = 60;
    // `disk_space` returns the space of the disk that holds the folder.
    std::function<absl::StatusOr<DiskSpace>(const std::string&)> disk_space = common::SpaceOf;
  };

  // Starts a coordinator, which can be called when this function returns. The errors are those of the coordinator's
  // parts, and each says what to do.
  static absl::StatusOr<std::unique_ptr<CoordinatorServer>> Start(Options options);
  ~CoordinatorServer() { Stop(); }

  // Answers all waiting calls, finishes running ones and closes the store. It is idempotent.
  void Stop();

  // Reads the fleet file again (FleetWatch::Reload). FAILED_PRECONDITION means that another coordinator has taken over.
  // Only one thread at a time may call it.
  absl::Status ReloadFleet();

  const std::string& address() const { return server_->address(); }
  // Returns the address of the metrics page, or "" when there is no such page.
  const std::string& metrics_address() const { return metrics_address_; }
  // Returns the loop, for objects that show the coordinator's state and that end before Stop is called.
  Loop* loop() { return loop_.get(); }
  // Returns what the power grids of regions emit now, in g/kWh. It is thread-safe.
  std::map<std::string, double> CarbonIntensities() const { return fleet_->CarbonIntensities(); }

 private:
  CoordinatorServer() = default;
  // The functions from Begin to StartDeciding are the steps of Start, in their order.
  absl::Status Begin(Options options);
  absl::Status OpenFolder(Options& options);
  absl::Status OpenFleet(const Options& options);
  absl::Status OpenWebhook(const std::string& url);
  absl::Status PrepareFolder(Options& options);
  absl::Status OpenStore(const Options& options);
  absl::Status StartDesk(const Options& options);
  absl::Status OpenBundles(const Options& options);
  void MakeLoop(const Options& options, const ClusterRecord& cluster);
  void MakeServices(const Options& options, JobReach reach);
  absl::Status Listen(const Options& options);
  absl::Status StartDeciding(const ClusterRecord& cluster, const std::string& advertise);

  absl::Status SetMarket(const v1::SetMarketRequest& request);
  void PublishToken(const common::Security& security);
  absl::Status WriteEndpoint(const std::string& advertise);
  // Calls `write`. If the disk is full, it releases the disk reserve and calls `write` once more.
  absl::Status WithReserve(const std::function<absl::Status()>& write);
  void Supersede(const ClusterRecord& record);
  void ForgetLog(const std::string& uid);
  // Removes the logs of jobs that do not exist any more.
  void RemoveOldLogs();

  common::Metrics metrics_;
  std::optional<DataFolder> folder_;
  std::unique_ptr<StateStore> own_store_;
  std::unique_ptr<DiskReserve> reserve_;
  std::unique_ptr<ReservedStore> reserved_store_;
  std::unique_ptr<Webhook> webhook_;
  std::optional<Voice> voice_;
  std::unique_ptr<LogDesk> desk_;
  std::unique_ptr<BundleShelf> shelf_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<LogStreams> logs_;
  std::unique_ptr<BundleDesk> bundles_;
  std::unique_ptr<MetricsSource> metrics_source_;
  std::unique_ptr<FleetWatch> fleet_;
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

#endif  // REKINDLE_COORDINATOR_SERVER_ASSEMBLY_COORDINATOR_SERVER_H_
