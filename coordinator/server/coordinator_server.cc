#include "coordinator/server/coordinator_server.h"

#include <google/protobuf/util/json_util.h>
#include <sys/stat.h>

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/object_uri.h"
#include "common/random_bytes.h"
#include "common/spec/yaml.h"
#include "common/state_folder.h"
#include "common/version.h"
#include "coordinator/cluster_record.h"
#include "coordinator/fleet/fleet_text.h"
#include "coordinator/fleet/price_book.h"
#include "coordinator/new_data_folder.h"
#include "coordinator/sqlite_store.h"

namespace rekindle::coordinator {
namespace {

constexpr double kFinishCallsSeconds = 2;
constexpr double kEndMachinesSeconds = 7;
constexpr size_t kProcessBytes = 8;

// As JSON, with the fields of an event.
std::string AlertText(const v1::Event& event) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  return google::protobuf::util::MessageToJsonString(event, &text, options).ok() ? text : "{}";
}

struct FleetFile {
  v1::Fleet fleet;
  double written = 0;  // Unix time.
};

absl::StatusOr<FleetFile> ReadFleet(const std::string& path) {
  FleetFile file;
  if (path.empty()) return file;
  const auto text = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat("--fleet: ", std::string(text.status().message())));
  absl::StatusOr<v1::Fleet> fleet = fleet::ParseFleet(*text, path);
  if (!fleet.ok()) return fleet.status();
  file.fleet = *std::move(fleet);
  struct stat facts = {};
  if (stat(path.c_str(), &facts) == 0) file.written = static_cast<double>(facts.st_mtim.tv_sec);
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CoordinatorServer>> CoordinatorServer::Start(Options options) {
  std::unique_ptr<CoordinatorServer> self(new CoordinatorServer);
  absl::StatusOr<DataFolder> folder = DataFolder::Open(options.data);
  if (!folder.ok()) return folder.status();
  self->folder_.emplace(*std::move(folder));
  if (options.defaults.store.empty()) options.defaults.store = "file://" + self->folder_->File("checkpoints");
  if (absl::Status defaults = CheckDefaults(options.defaults); !defaults.ok()) return defaults;

  self->fleet_file_ = options.fleet;
  const absl::StatusOr<FleetFile> fleet = ReadFleet(options.fleet);
  if (!fleet.ok()) return fleet.status();
  absl::StatusOr<std::unique_ptr<CarbonWatch>> carbon = self->OpenCarbon(fleet->fleet);
  if (!carbon.ok()) return carbon.status();
  self->carbon_ = *std::move(carbon);
  options.tunables.refuse_unfit_precision = options.defaults.precision_policy == "refuse";

  if (!options.alert_webhook.empty()) {
    absl::StatusOr<std::unique_ptr<Webhook>> webhook = Webhook::Open(options.alert_webhook, &self->metrics_, {});
    if (!webhook.ok()) return webhook.status();
    self->webhook_ = *std::move(webhook);
  }

  if (absl::Status restored = CheckComplete(self->folder_->path()); !restored.ok()) return restored;
  if (const absl::Status marked = common::MarkStateFolder(self->folder_->path()); !marked.ok()) {
    log::Warning("jobs may read the coordinator's state", {{"why", std::string(marked.message())}});
  }
  self->reserve_ = std::make_unique<DiskReserve>(
      DiskReserve::Options{.folder = self->folder_->path(), .space = options.disk_space, .now = common::SteadySeconds},
      &self->metrics_);
  const bool all_may_call = !options.rpc.security.HasTls() && common::IsLoopback(options.rpc.listen);
  if (options.own_token && all_may_call && options.rpc.security.token_file.empty()) {
    if (absl::Status made = self->UseOwnToken(&options.rpc.security); !made.ok()) return made;
  }
  absl::StatusOr<JobReach> reach = ReachOfJobs(options);
  if (!reach.ok()) return reach.status();
  StateStore* store = options.store;
  const std::string database = store == nullptr ? self->folder_->File("state.db") : "";
  if (store == nullptr) {
    const auto open = [&] { return SqliteStore::Open(database, {.max_bytes = options.state_bytes}); };
    absl::StatusOr<std::unique_ptr<SqliteStore>> opened = open();
    if (absl::IsResourceExhausted(opened.status()) && self->reserve_->Release()) opened = open();
    if (!opened.ok()) return opened.status();
    self->own_store_ = *std::move(opened);
    store = self->own_store_.get();
  }
  self->reserved_store_ = std::make_unique<ReservedStore>(store, self->reserve_.get());
  store = self->reserved_store_.get();
  const absl::StatusOr<ClusterRecord> cluster = ReadOrMakeCluster(store);
  if (!cluster.ok()) return cluster.status();
  CoordinatorServer* raw = self.get();
  self->voice_.emplace(*cluster, &self->metrics_, [raw](const ClusterRecord& record) { raw->Supersede(record); });
  Loop::Options loop{.clocks = options.clocks,
                     .identity = cluster->identity,
                     .tunables = options.tunables,
                     .prices = fleet::ToPriceBook(fleet->fleet, fleet->written),
                     .carbon = self->carbon_->book(),
                     .listen_seconds = cluster->listen_first ? options.listen_seconds : 0};
  loop.on_listened = [raw] {
    const ClusterRecord record = raw->voice_->BeginDecisions();
    return std::pair(record.identity, ToWrites(record));
  };
  loop.on_serving = [raw](bool serving) {
    if (raw->server_) raw->server_->SetServing(serving);
  };
  loop.on_alert = [raw](const v1::Event& event) {
    if (raw->webhook_) raw->webhook_->Send(AlertText(event));
  };
  loop.on_orders = [raw](const std::vector<core::PoolOrder>& orders) {
    for (const core::PoolOrder& order : orders) raw->machines_->Order(order);
  };
  loop.on_forgotten = [raw](const std::string& uid) {
    const absl::Status posted = raw->desk_->Post([raw, uid] {
      raw->desk_->store().Forget(uid);
      raw->desk_->bulletin().Forget(uid);
    });
    if (!posted.ok()) log::Info("the log of a job that is forgotten is removed at the next start", {{"job_uid", uid}});
  };
  loop.on_fatal = options.on_fatal;
  loop.take_notices = [raw] {
    raw->reserve_->Tend();
    return raw->reserve_->TakeEvents();
  };
  absl::StatusOr<std::unique_ptr<LogDesk>> desk =
      LogDesk::Start({.folder = self->folder_->File("logs"),
                      .job_bytes = static_cast<int64_t>(options.job_log_bytes),
                      .total_bytes = static_cast<int64_t>(options.log_bytes),
                      .space = options.disk_space});
  if (!desk.ok()) return desk.status();
  self->desk_ = *std::move(desk);
  self->loop_ = std::make_unique<Loop>(store, &self->metrics_, std::move(loop));
  self->logs_ = std::make_unique<LogStreams>(self->loop_.get(), self->desk_.get(),
                                             absl::BytesToHexString(common::RandomBytes(kProcessBytes)));
  self->metrics_source_ = std::make_unique<MetricsSource>(self->loop_.get());
  self->metrics_.AddSource([raw](common::MetricSamples& samples) { raw->metrics_source_->Add(samples); });
  self->machines_ = std::make_unique<Machines>(Machines::Options{
      .fleet = options.fleet, .data = self->folder_->path(), .endpoint_file = self->folder_->File("endpoint")});
  self->trainers_ = std::make_unique<TrainersService>(self->loop_.get(), &*self->voice_, &self->metrics_);
  self->nodes_ = std::make_unique<NodesService>(self->loop_.get(), &*self->voice_, self->logs_.get(), &self->metrics_);
  self->backups_ = std::make_unique<Backups>(Backups::Options{.database = database,
                                                              .copy = self->folder_->File("backup.tmp"),
                                                              .stalled_seconds = options.backup_stalled_seconds});
  self->users_ = std::make_unique<UserService>(
      self->loop_.get(), &self->metrics_,
      UserService::Options{{.defaults = options.defaults,
                            .reach = *std::move(reach),
                            .max_active_jobs = options.max_active_jobs,
                            .reserve = self->reserve_.get()},
                           [raw](const v1::SetMarketRequest& request) {
                             if (raw->voice_->superseded()) {
                               return absl::FailedPreconditionError(DescribeSuperseded(raw->voice_->record()));
                             }
                             return raw->machines_->SetMarket(request);
                           },
                           self->backups_.get(),
                           self->logs_.get()});

  // Listen first: a port in use must not change the state. Calls wait in the loop's queue until it runs.
  absl::StatusOr<std::unique_ptr<common::Server>> server =
      common::Server::Start(options.rpc, {self->trainers_.get(), self->nodes_.get(), self->users_.get()});
  if (!server.ok()) return server.status();
  self->server_ = *std::move(server);
  if (options.own_token && all_may_call) self->PublishToken(options.rpc.security);
  if (!options.metrics.empty()) {
    absl::StatusOr<std::string> metrics = self->metrics_.Serve(options.metrics, options.rpc.security);
    if (!metrics.ok()) return metrics.status();
    self->metrics_address_ = *std::move(metrics);
  }
  if (cluster->superseded_by) self->Supersede(*cluster);
  if (absl::Status loaded = self->loop_->Start(); !loaded.ok()) return loaded;
  // Whoever listens first does not know all jobs yet.
  if (!cluster->listen_first && !cluster->superseded_by) self->RemoveOldLogs();
  if (absl::Status written = self->WriteEndpoint(options.advertise); !written.ok()) return written;
  if (!cluster->superseded_by) {
    absl::Status started =
        self->machines_->Start(fleet->fleet, {[raw](const core::PoolReported& report) { raw->loop_->Report(report); },
                                              [raw](const core::PriceHeard& heard) { raw->loop_->HearPrice(heard); }});
    if (!started.ok()) return started;
    self->carbon_->Start();
  }
  if (self->voice_->superseded()) self->machines_->Stop();  // It may have been meanwhile.
  self->end_local_machines_ = options.end_local_machines;
  log::Info("listening", {{"address", self->address()},
                          {"metrics", self->metrics_address_},
                          {"data", self->folder_->path()},
                          {"cluster", common::Describe(cluster->identity)},
                          {"version", common::kVersion}});
  return self;
}

void CoordinatorServer::RemoveOldLogs() {
  const absl::Status posted = loop_->Post([this] {
    if (!loop_->ended().ok()) return;
    std::set<std::string> uids;
    for (const v1::JobRecord* record : loop_->cluster().Jobs()) uids.insert(record->job().uid());
    (void)desk_->Post([this, uids = std::move(uids)] { desk_->store().ForgetAllBut(uids); });
  });
  if (!posted.ok()) log::Warning("old logs are not looked for", {{"error", std::string(posted.message())}});
}

// Its machines are the other one's to order from now on.
void CoordinatorServer::Supersede(const ClusterRecord& record) {
  loop_->Supersede(ToWrites(record), DescribeSuperseded(record), [this] { machines_->Stop(); });
}

absl::Status CoordinatorServer::ReloadFleet() {
  if (voice_->superseded()) return absl::FailedPreconditionError(DescribeSuperseded(voice_->record()));
  const absl::StatusOr<FleetFile> fleet = ReadFleet(fleet_file_);
  if (!fleet.ok()) return fleet.status();
  absl::StatusOr<std::unique_ptr<CarbonWatch>> carbon = OpenCarbon(fleet->fleet);
  if (!carbon.ok()) return carbon.status();
  // First: an order of a pool that is new finds its provider.
  if (absl::Status machines = machines_->Reload(fleet->fleet); !machines.ok()) return machines;
  {
    const std::lock_guard lock(carbon_mutex_);
    carbon_ = *std::move(carbon);  // The one before ends first: it must not have the last word.
  }
  loop_->SetPrices(fleet::ToPriceBook(fleet->fleet, fleet->written));
  loop_->SetCarbon(carbon_->book());
  carbon_->Start();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CarbonWatch>> CoordinatorServer::OpenCarbon(const v1::Fleet& fleet) {
  CarbonWatch::Options options{
      .carbon = fleet.carbon(), .beside = common::DirName(fleet_file_), .now = common::WallSeconds};
  if (carbon_ && !fleet.carbon().url().empty() && carbon_->SameFeed(fleet.carbon())) options.known = carbon_->book();
  options.on_change = [this](core::CarbonBook book) { loop_->SetCarbon(std::move(book)); };
  absl::StatusOr<std::unique_ptr<CarbonWatch>> opened = CarbonWatch::Open(std::move(options));
  if (opened.ok() || fleet_file_.empty()) return opened;
  return absl::InvalidArgumentError(absl::StrCat(fleet_file_, ": ", opened.status().message()));
}

std::map<std::string, double> CoordinatorServer::CarbonIntensities() const {
  const std::lock_guard lock(carbon_mutex_);
  return carbon_ ? carbon_->IntensitiesAt(common::WallSeconds()) : std::map<std::string, double>();
}

absl::Status CoordinatorServer::WithReserve(const std::function<absl::Status()>& write) {
  const absl::Status written = write();
  return absl::IsResourceExhausted(written) && reserve_->Release() ? write() : written;
}

absl::StatusOr<JobReach> CoordinatorServer::ReachOfJobs(const Options& options) {
  if (absl::Status roots = data::DataRoots::CheckRoots(options.data_roots); !roots.ok()) return roots;
  JobReach reach{.here = common::IsLocalAddress(options.rpc.listen)};
  // Beyond loopback the nodes' files are not this machine's, and each has roots of its own.
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

absl::Status CoordinatorServer::UseOwnToken(common::Security* security) {
  security->token_file = folder_->File("token");
  return WithReserve([&] { return common::MakeTokenFile(security->token_file); });
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
  {
    const std::lock_guard lock(carbon_mutex_);
    carbon_.reset();
  }
  if (machines_) machines_->Stop();
  const bool are_its_own = voice_ && !voice_->superseded();
  if (machines_ && end_local_machines_ && are_its_own)
    machines_->EndLocal(kEndMachinesSeconds);  // While they can still drain.
  if (backups_) backups_->Stop();
  if (loop_) loop_->Stop();
  if (desk_) desk_->Stop();
  if (server_) server_->Shutdown(kFinishCallsSeconds);
  published_token_.reset();
}

}  // namespace rekindle::coordinator
