#include "coordinator/server/assembly/coordinator_server.h"

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/agreed/allow_code.h"
#include "common/agreed/version.h"
#include "common/digest/random_bytes.h"
#include "common/files/file.h"
#include "common/files/state_folder.h"
#include "common/log/log.h"
#include "common/objects/object_uri.h"
#include "coordinator/folder/new_data_folder.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/sqlite_store.h"

namespace rekindle::coordinator {
namespace {

constexpr double kFinishCallsSeconds = 2;
constexpr double kEndMachinesSeconds = 7;
constexpr size_t kProcessBytes = 8;
constexpr char kDatabase[] = "state.db";

// Returns whether the coordinator makes a token of its own. Without one, everybody on its machine might call it.
bool NeedsOwnToken(const CoordinatorServer::Options& options) {
  return options.own_token && !options.rpc.security.HasTls() && common::IsLoopback(options.rpc.listen);
}

absl::StatusOr<JobReach> ReachOfJobs(const CoordinatorServer::Options& options) {
  if (absl::Status roots = data::DataRoots::CheckRoots(options.data_roots); !roots.ok()) return roots;
  const bool is_loopback = common::IsLoopback(options.rpc.listen);
  const std::string allow_code =
      options.allow_code.empty() ? common::DefaultAllowCode(is_loopback) : options.allow_code;
  JobReach reach{.here = common::IsLocalAddress(options.rpc.listen), .takes_code = common::AllowsCode(allow_code)};
  // Without `data_roots` the coordinator itself allows all folders. Where it listens beyond loopback, the files that
  // jobs read are on the nodes, and each node has its own list of folders that jobs may read.
  const std::vector<std::string> all = {"/"};
  const common::Security& keys = options.rpc.security;
  reach.roots = data::DataRoots(options.data_roots.empty() ? all : options.data_roots,
                                {keys.tls_cert, keys.tls_key, keys.tls_ca, keys.token_file});
  std::vector<std::string> listed = options.store_endpoints;
  const auto usual = common::ParseObjectUri(options.defaults.store);
  if (usual.ok() && !usual->endpoint.empty()) listed.push_back(usual->endpoint);
  auto endpoints = common::StoreEndpoints::Create(listed, reach.here);
  if (!endpoints.ok()) return endpoints.status();
  reach.endpoints = *std::move(endpoints);
  return reach;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Start(Options options) {
  std::unique_ptr<CoordinatorServer> self(new CoordinatorServer);
  if (absl::Status begun = self->Begin(std::move(options)); !begun.ok()) return begun;
  return self;
}

absl::Status CoordinatorServer::Begin(Options options) {
  if (absl::Status s = OpenFolder(options); !s.ok()) return s;
  if (absl::Status s = OpenFleet(options); !s.ok()) return s;
  if (absl::Status s = OpenWebhook(options.alert_webhook); !s.ok()) return s;
  if (absl::Status s = PrepareFolder(options); !s.ok()) return s;
  absl::StatusOr<JobReach> reach = ReachOfJobs(options);
  if (!reach.ok()) return reach.status();
  options.tunables.takes_code = reach->takes_code;
  if (absl::Status s = OpenStore(options); !s.ok()) return s;
  const absl::StatusOr<ClusterRecord> cluster = ReadOrMakeCluster(reserved_store_.get());
  if (!cluster.ok()) return cluster.status();
  voice_.emplace(*cluster, &metrics_, [this](const ClusterRecord& record) { Supersede(record); });
  if (absl::Status s = StartDesk(options); !s.ok()) return s;
  if (absl::Status s = OpenBundles(options); !s.ok()) return s;
  MakeLoop(options, *cluster);
  MakeServices(options, *std::move(reach));
  if (absl::Status s = Listen(options); !s.ok()) return s;
  if (absl::Status s = StartDeciding(*cluster, options.advertise); !s.ok()) return s;
  end_local_machines_ = options.end_local_machines;
  log::Info("listening", {{"address", address()},
                          {"metrics", metrics_address_},
                          {"data", folder_->path()},
                          {"cluster", common::Describe(cluster->identity)},
                          {"version", common::kVersion}});
  return absl::OkStatus();
}

absl::Status CoordinatorServer::OpenFolder(Options& options) {
  absl::StatusOr<DataFolder> folder = DataFolder::Open(options.data);
  if (!folder.ok()) return folder.status();
  folder_.emplace(*std::move(folder));
  if (options.defaults.store.empty()) options.defaults.store = "file://" + folder_->File("checkpoints");
  options.tunables.allow_fake_devices = common::IsLoopback(options.rpc.listen);
  options.tunables.refuse_unfit_precision = options.defaults.precision_policy == "refuse";
  return CheckDefaults(options.defaults);
}

absl::Status CoordinatorServer::OpenFleet(const Options& options) {
  absl::StatusOr<std::unique_ptr<FleetWatch>> fleet = FleetWatch::Open(
      {.fleet = options.fleet, .data = folder_->path(), .endpoint_file = folder_->File("endpoint")},
      {.machines = {.pool = [this](const core::PoolReported& report) { loop_->inbox().Report(report); },
                    .price = [this](const core::PriceHeard& heard) { loop_->inbox().HearPrice(heard); }},
       .prices = [this](core::PriceBook prices) { loop_->inbox().SetPrices(std::move(prices)); },
       .carbon = [this](core::CarbonBook carbon) { loop_->inbox().SetCarbon(std::move(carbon)); }},
      options.clocks.wall);
  if (!fleet.ok()) return fleet.status();
  fleet_ = *std::move(fleet);
  return absl::OkStatus();
}

absl::Status CoordinatorServer::OpenWebhook(const std::string& url) {
  if (url.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<Webhook>> webhook = Webhook::Open(url, &metrics_, {});
  if (!webhook.ok()) return webhook.status();
  webhook_ = *std::move(webhook);
  return absl::OkStatus();
}

absl::Status CoordinatorServer::PrepareFolder(Options& options) {
  if (absl::Status restored = CheckComplete(folder_->path()); !restored.ok()) return restored;
  if (const absl::Status marked = common::MarkStateFolder(folder_->path()); !marked.ok()) {
    log::Warning("jobs may read the coordinator's state", {{"why", std::string(marked.message())}});
  }
  reserve_ = std::make_unique<DiskReserve>(
      DiskReserve::Options{.folder = folder_->path(), .space = options.disk_space, .now = options.clocks.steady},
      &metrics_);
  std::string& token_file = options.rpc.security.token_file;
  if (!NeedsOwnToken(options) || !token_file.empty()) return absl::OkStatus();
  token_file = folder_->File("token");
  return WithReserve([&] { return common::MakeTokenFile(token_file); });
}

absl::Status CoordinatorServer::OpenStore(const Options& options) {
  if (options.store == nullptr) {
    const auto open = [&] { return SqliteStore::Open(folder_->File(kDatabase), {.max_bytes = options.state_bytes}); };
    absl::StatusOr<std::unique_ptr<SqliteStore>> opened = open();
    if (absl::IsResourceExhausted(opened.status()) && reserve_->Release()) opened = open();
    if (!opened.ok()) return opened.status();
    own_store_ = *std::move(opened);
  }
  StateStore* const store = options.store == nullptr ? own_store_.get() : options.store;
  reserved_store_ = std::make_unique<ReservedStore>(store, reserve_.get());
  return absl::OkStatus();
}

absl::Status CoordinatorServer::StartDesk(const Options& options) {
  absl::StatusOr<std::unique_ptr<LogDesk>> desk =
      LogDesk::Start({.folder = folder_->File("logs"),
                      .job_bytes = static_cast<int64_t>(options.job_log_bytes),
                      .total_bytes = static_cast<int64_t>(options.log_bytes),
                      .wall = options.clocks.wall,
                      .space = options.disk_space});
  if (!desk.ok()) return desk.status();
  desk_ = *std::move(desk);
  return absl::OkStatus();
}

absl::Status CoordinatorServer::OpenBundles(const Options& options) {
  absl::StatusOr<std::unique_ptr<BundleShelf>> shelf =
      BundleShelf::Open({.folder = folder_->File(kBundleFolder),
                         .max_bytes = static_cast<int64_t>(options.bundle_bytes),
                         .space = options.disk_space,
                         .wall = options.clocks.wall});
  if (!shelf.ok()) return shelf.status();
  shelf_ = *std::move(shelf);
  return absl::OkStatus();
}

void CoordinatorServer::MakeLoop(const Options& options, const ClusterRecord& cluster) {
  Loop::Options loop{.clocks = options.clocks,
                     .identity = cluster.identity,
                     .tunables = options.tunables,
                     .prices = fleet_->prices(),
                     .carbon = fleet_->carbon(),
                     .listen_seconds = cluster.listen_first ? options.listen_seconds : 0};
  loop.on_listened = [this] {
    const ClusterRecord record = voice_->BeginDecisions();
    return std::pair(record.identity, ToWrites(record));
  };
  loop.on_serving = [this](bool serving) {
    if (server_) server_->SetServing(serving);
  };
  loop.on_alert = [this](const v1::Event& event) {
    if (webhook_) webhook_->Send(AlertBody(event));
  };
  loop.on_orders = [this](const std::vector<core::PoolOrder>& orders) {
    for (const core::PoolOrder& order : orders) fleet_->machines().Order(order);
  };
  loop.on_forgotten = [this](const std::string& uid) { ForgetLog(uid); };
  loop.on_fatal = options.on_fatal;
  loop.take_notices = [this] {
    reserve_->Tend();
    return reserve_->TakeEvents();
  };
  loop_ = std::make_unique<Loop>(reserved_store_.get(), &metrics_, std::move(loop));
}

void CoordinatorServer::MakeServices(const Options& options, JobReach reach) {
  logs_ = std::make_unique<LogStreams>(loop_.get(), desk_.get(),
                                       absl::BytesToHexString(common::RandomBytes(kProcessBytes)));
  metrics_source_ = std::make_unique<MetricsSource>(loop_.get());
  metrics_.AddSource([this](common::MetricSamples& samples) { metrics_source_->Add(samples); });
  trainers_ = std::make_unique<TrainersService>(loop_.get(), &*voice_, &metrics_);
  bundles_ =
      std::make_unique<BundleDesk>(loop_.get(), &*voice_, shelf_.get(),
                                   BundleDesk::Options{.takes = reach.takes_code,
                                                       .bytes_per_second = static_cast<double>(options.bundle_rate),
                                                       .stalled_seconds = options.bundle_stalled_seconds});
  nodes_ = std::make_unique<NodesService>(loop_.get(), &*voice_, logs_.get(), bundles_.get(), &metrics_);
  backups_ = std::make_unique<Backups>(Backups::Options{.database = own_store_ ? folder_->File(kDatabase) : "",
                                                        .copy = folder_->File("backup.tmp"),
                                                        .stalled_seconds = options.backup_stalled_seconds,
                                                        .bundles = shelf_.get()});
  users_ = std::make_unique<UserService>(
      loop_.get(), &metrics_,
      UserService::Options{
          .intake = {.defaults = options.defaults,
                     .reach = std::move(reach),
                     .max_active_jobs = options.max_active_jobs,
                     .reserve = reserve_.get(),
                     .has_bundle = [this](const std::string& address) { return shelf_->Claim(address); }},
          .set_market = [this](const v1::SetMarketRequest& request) { return SetMarket(request); },
          .backups = backups_.get(),
          .logs = logs_.get(),
          .bundles = bundles_.get()});
}

// The port is opened before the loop starts, so that the state is not changed if the port turns out to be in use. Until
// the loop runs, calls wait in its queue.
absl::Status CoordinatorServer::Listen(const Options& options) {
  absl::StatusOr<std::unique_ptr<common::Server>> server =
      common::Server::Start(options.rpc, {trainers_.get(), nodes_.get(), users_.get()});
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  if (NeedsOwnToken(options)) PublishToken(options.rpc.security);
  if (options.metrics.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> metrics = metrics_.Serve(options.metrics, options.rpc.security);
  if (!metrics.ok()) return metrics.status();
  metrics_address_ = *std::move(metrics);
  return absl::OkStatus();
}

absl::Status CoordinatorServer::StartDeciding(const ClusterRecord& cluster, const std::string& advertise) {
  if (cluster.superseded_by) Supersede(cluster);
  if (absl::Status loaded = loop_->Start(); !loaded.ok()) return loaded;
  // A coordinator that listens to nodes and trainers before it decides does not know all jobs yet, so it keeps all
  // logs.
  if (!cluster.listen_first && !cluster.superseded_by) RemoveOldLogs();
  if (absl::Status written = WriteEndpoint(advertise); !written.ok()) return written;
  if (!cluster.superseded_by) {
    if (absl::Status started = fleet_->Start(); !started.ok()) return started;
  }
  // If another coordinator took over while the machines were being started, this one stops ordering machines.
  if (voice_->superseded()) fleet_->machines().Stop();
  return absl::OkStatus();
}

void CoordinatorServer::ForgetLog(const std::string& uid) {
  const absl::Status posted = desk_->Post([this, uid] {
    desk_->store().Forget(uid);
    desk_->bulletin().Forget(uid);
  });
  if (!posted.ok()) log::Info("the log of a job that is forgotten is removed at the next start", {{"job_uid", uid}});
}

void CoordinatorServer::RemoveOldLogs() {
  const absl::Status posted = loop_->inbox().Post([this] {
    if (!loop_->ended().ok()) return;
    std::set<std::string> uids;
    for (const v1::JobRecord* record : loop_->cluster().Jobs()) uids.insert(record->job().uid());
    (void)desk_->Post([this, uids = std::move(uids)] { desk_->store().ForgetAllBut(uids); });
  });
  if (!posted.ok()) log::Warning("old logs are not looked for", {{"error", std::string(posted.message())}});
}

// Another coordinator has taken over. It orders the machines from now on, so this one stops ordering them.
void CoordinatorServer::Supersede(const ClusterRecord& record) {
  loop_->Supersede(ToWrites(record), DescribeSuperseded(record), [this] { fleet_->machines().Stop(); });
}

absl::Status CoordinatorServer::ReloadFleet() {
  if (voice_->superseded()) return absl::FailedPreconditionError(DescribeSuperseded(voice_->record()));
  return fleet_->Reload();
}

absl::Status CoordinatorServer::SetMarket(const v1::SetMarketRequest& request) {
  if (voice_->superseded()) return absl::FailedPreconditionError(DescribeSuperseded(voice_->record()));
  return fleet_->machines().SetMarket(request);
}

absl::Status CoordinatorServer::WithReserve(const std::function<absl::Status()>& write) {
  const absl::Status written = write();
  return absl::IsResourceExhausted(written) && reserve_->Release() ? write() : written;
}

void CoordinatorServer::PublishToken(const common::Security& security) {
  const absl::StatusOr<std::string> token = common::ReadToken(security.token_file);
  absl::StatusOr<common::PublishedToken> published =
      token.ok() ? common::PublishedToken::Publish(server_->port(), *token) : token.status();
  if (published.ok()) {
    published_token_.emplace(*std::move(published));
    return;
  }
  log::Warning("nobody finds its token by its address: REKINDLE_TOKEN_FILE must name the file",
               {{"file", security.token_file}, {"why", std::string(published.status().message())}});
}

absl::Status CoordinatorServer::WriteEndpoint(const std::string& advertise) {
  const std::string endpoint = advertise.empty() ? address() : advertise;
  return WithReserve(
      [&] { return common::WriteFileAtomic(*common::PosixFileSystem(), folder_->File("endpoint"), endpoint + "\n"); });
}

void CoordinatorServer::Stop() {
  metrics_.StopServing();
  if (fleet_) fleet_->Stop();
  const bool are_its_own = voice_ && !voice_->superseded();
  if (fleet_ && end_local_machines_ && are_its_own)
    // Local machines end while the coordinator still runs, so that they can drain.
    fleet_->machines().EndLocal(kEndMachinesSeconds);
  if (backups_) backups_->Stop();
  if (bundles_) bundles_->Stop();
  if (loop_) loop_->Stop();
  if (desk_) desk_->Stop();
  if (server_) server_->Shutdown(kFinishCallsSeconds);
  published_token_.reset();
}

}  // namespace rekindle::coordinator
