#include "worker/agent/program/agent.h"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "common/log/log.h"
#include "common/memory/memory_limit.h"
#include "common/net/descriptors.h"
#include "common/process/process.h"
#include "common/rpc/rpc.h"
#include "common/time/clock.h"
#include "worker/agent/bundles/bundle_keeper.h"
#include "worker/agent/bundles/bundle_transport.h"
#include "worker/agent/decisions/drain.h"
#include "worker/agent/decisions/name_state.h"
#include "worker/agent/decisions/sought.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/init/init.h"
#include "worker/agent/lines/checkpoint_link.h"
#include "worker/agent/lines/coordinator_link.h"
#include "worker/agent/lines/stored_jobs.h"
#include "worker/agent/logs/log_shipper.h"
#include "worker/agent/logs/log_transport.h"
#include "worker/agent/notices/watcher.h"
#include "worker/agent/program/driver_question.h"
#include "worker/agent/program/lonely_end.h"
#include "worker/agent/program/node_facts.h"
#include "worker/agent/program/node_gpus.h"
#include "worker/agent/trainers/agent_metrics.h"
#include "worker/agent/trainers/local_service.h"
#include "worker/agent/trainers/supervisor.h"

namespace rekindle::agent {
namespace {

constexpr double kLockWaitSeconds = 3;
constexpr double kLastLinesSeconds = 2;
// The time left of a drain is reported in steps of `kDrainReportStep` seconds.
constexpr double kDrainReportStep = 0.5;
constexpr double kLookAgainSeconds = 1;
constexpr int kMaxLocalMessageBytes = 1 << 20;

class Agent {
 public:
  Agent(const AgentOptions& options, NodeFolder folder, common::UniqueFd signals)
      : options_(options),
        folder_(std::move(folder)),
        signals_(std::move(signals)),
        logs_({.folder = folder_.LogFolder()}),
        bundles_({.folder = folder_.dir()}, &waker_),
        supervisor_(
            {.launch = {.trainer_binary = options.trainer_binary,
                        .own_trainer_binary = options.own_trainer_binary,
                        .python = options.python,
                        .allow_code = options.allow_code,
                        .coordinator = options.coordinator,
                        .node = options.node,
                        .advertise = options.advertise,
                        .memory_bytes = ShareOf(options),
                        .data_roots = options.data_roots},
             .gpus = options.gpus,
             .gpu_share = options.gpu_share,
             .fake_gpus = options.device == kFakeDevices,
             .slots = options.slots,
             .policy = {.stop_grace_seconds = options.stop_grace_seconds, .stuck_seconds = options.stuck_seconds},
             .health = {.first_seconds = options.ask_driver_seconds},
             .code = CodeOptions(options),
             .has_bundle = [this](const std::string& address) { return bundles_.IsReady(address); },
             .why_no_bundle = [this](const std::string& address) { return bundles_.Trouble(address); }},
            &folder_, &metrics_, &logs_, &waker_),
        local_service_(&supervisor_),
        driver_([options] { return AskForGpus(options); }, &waker_),
        lonely_(&folder_, machine_.boot, options.first_heard_seconds) {}

  // The threads of the log shipper and of the bundle keeper use the link to the coordinator, so they have to stop
  // before the members are destroyed.
  ~Agent() {
    logs_.Stop();
    bundles_.Stop();
  }

  absl::Status Start() {
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> coordinator = common::Connect(options_.coordinator);
    if (!coordinator.ok()) return coordinator.status();
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> checkpoint =
        common::Connect("unix:" + folder_.CheckpointSocket(), {.security = {}});
    if (!checkpoint.ok()) return checkpoint.status();
    if (!options_.metrics.empty()) {
      const absl::StatusOr<std::string> at = metrics_.Serve(options_.metrics, common::Security::FromEnvironment());
      if (!at.ok()) return at.status();
      log::Info("serving metrics", {{"address", *at}});
    }
    absl::StatusOr<std::vector<OpenSource>> sources = OpenSources(options_.notices, ThisMachine());
    if (!sources.ok()) return sources.status();
    for (const OpenSource& source : *sources) log::Info("listening for notices", {{"source", source.name}});
    supervisor_.Adopt();
    absl::StatusOr<std::unique_ptr<common::Server>> server = common::Server::Start(
        {.listen = "unix:" + folder_.AgentSocket(), .security = {}, .max_message_bytes = kMaxLocalMessageBytes},
        {&local_service_});
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    checkpoint_link_ = std::make_unique<CheckpointLink>(*checkpoint, &waker_);
    stored_ = std::make_unique<StoredJobs>(*checkpoint, &waker_);
    absl::StatusOr<common::KnownCluster> obeys = folder_.ReadCluster();
    if (!obeys.ok()) return obeys.status();
    link_ = std::make_unique<CoordinatorLink>(
        *coordinator, &waker_, *std::move(obeys),
        [this](const common::ClusterIdentity& identity) { RememberCluster(identity); });
    common::ChannelOptions own_line;
    own_line.own_connection = true;
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> for_logs = common::Connect(options_.coordinator, own_line);
    if (!for_logs.ok()) return for_logs.status();
    log_transport_ = std::make_unique<LogTransport>(*for_logs);
    logs_.Run({.send = [this](v1::LogReport report) { return SendLogs(std::move(report)); },
               .cancel = [this] { log_transport_->Cancel(); },
               .connection = [this] { return link_->connection(); }});
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> for_bundles = common::Connect(options_.coordinator, own_line);
    if (!for_bundles.ok()) return for_bundles.status();
    bundle_transport_ = std::make_unique<BundleTransport>(*for_bundles);
    bundles_.Run([this](v1::GetBundleRequest request) { return GetBundle(std::move(request)); },
                 [this] { bundle_transport_->Cancel(); });
    notices_ = std::make_unique<NoticeWatcher>(
        *std::move(sources), &waker_,
        [this](const std::string& source, const NoticeCounts& counts) { metrics_.CountNotices(source, counts); });
    return absl::OkStatus();
  }

  int Run() {
    for (;;) {
      TakeSignals();
      TakeNotices();
      const std::optional<int> told = TakeDirective();
      if (told) return *told;
      metrics_.SetForeign(link_->foreign());
      ConsiderEnd();
      TakeGpus();
      const double act_at = supervisor_.Act(common::SteadySeconds());
      const double wake_at = std::min(act_at, AskDriver());
      Publish();
      if (Finished()) {
        logs_.Finish(kLastLinesSeconds);
        log::Info(drained_ ? "drained: leaving" : "leaving");
        if (drained_) notices_->AcknowledgeAll();
        if (!ends_alone_) return kExitOk;
        lonely_.Forget();
        return kExitAlone;
      }
      Wait(wake_at);
    }
  }

 private:
  void RememberCluster(const common::ClusterIdentity& identity) const {
    log::Info("obeys", {{"cluster", common::Describe(identity)}});
    const absl::Status written = ReplaceFile(folder_.ClusterFile(), common::Describe(identity) + "\n");
    if (written.ok()) return;
    log::Warning("which cluster this node belongs to could not be written down",
                 {{"error", std::string(written.message())}});
  }

  void TakeSignals() {
    while (common::ReadSignal(signals_.get()) != 0) {
      if (drain_.signalled()) {
        log::Info("told again: not waiting for the drain");
      } else {
        log::Info("draining", {{"within_seconds", options_.drain_seconds}});
      }
      drain_.Signalled(common::SteadySeconds(), options_.drain_seconds);
    }
  }

  void TakeNotices() {
    // The notice watcher's settled() is read before its verdict(). In the other order, `settled_` could say that all
    // sources of notices have answered, although the verdict was made before the last answer.
    settled_ = notices_->settled();
    drain_.Noticed(notices_->verdict());
    supervisor_.SetDraining(drain_.draining());
    if (stopping_ || common::SteadySeconds() < drain_.until()) return;
    stopping_ = true;
    if (supervisor_.running() > 0) log::Warning("the drain is out of time: stopping the trainers");
    supervisor_.StopAll();
  }

  // Ends the machine if it has been without a coordinator for too long. The machine ends when this agent exits, after
  // its trainers had time to save.
  void ConsiderEnd() {
    if (stopping_ || !lonely_.IsDue({.connected = link_->connected(),
                                     .keeps_final_state = supervisor_.KeepsFinalState(),
                                     .is_busy = supervisor_.IsBusy()})) {
      return;
    }
    ends_alone_ = stopping_ = true;
    supervisor_.StopAll();
  }

  void TakeGpus() {
    const auto answer = driver_.Take();
    if (answer) supervisor_.TakeGpus(*answer, common::SteadySeconds());
  }

  // Asks the driver for the GPUs when that is due. Returns when it is due next.
  double AskDriver() {
    const double ask_at = supervisor_.ask_driver_at();
    if (common::SteadySeconds() < ask_at) return ask_at;
    driver_.Ask();
    return std::numeric_limits<double>::infinity();
  }

  // Takes the coordinator's newest directive. Returns an exit code if the coordinator refuses this node.
  std::optional<int> TakeDirective() {
    const std::optional<CoordinatorLink::Delivery> delivery = link_->Take();
    if (!delivery) return std::nullopt;
    if (delivery->directive) {
      if (!delivery->directive->error().empty()) {
        log::Error("refused by the coordinator", {{"error", delivery->directive->error()}});
        return kExitRefused;
      }
      name_.Take(*delivery->directive);
      supervisor_.Apply(*delivery->directive);
      stored_->Want(supervisor_.StoresToRead());
      bundles_.Want(supervisor_.Bundles());
      look_for_ = delivery->directive->look_for();
      if (!name_.waits()) checkpoint_link_->SetPeers(PeersIn(*delivery->directive));
      drained_ = delivery->directive->drained();
    }
    lonely_.Heard(delivery->sent, delivery->alone_seconds, delivery->spend_seconds, supervisor_.LeavesAlone());
    return std::nullopt;
  }

  v1::SetPeersRequest PeersIn(const v1::NodeDirective& directive) const {
    v1::SetPeersRequest peers;
    peers.set_node(options_.node);
    peers.set_zone(options_.zone);
    *peers.mutable_peers() = directive.checkpoint_peers();
    *peers.mutable_job_uids() = directive.live_jobs();
    return peers;
  }

  // Returns the address at which peers reach this node's checkpoint service, which is under the node's advertised name.
  // It is empty if the service listens on loopback alone while the node is advertised elsewhere.
  std::string CheckpointAddress() const {
    const std::string address = checkpoint_link_->address();
    const size_t colon = address.rfind(':');
    if (colon == std::string::npos) return "";
    if (common::IsLocalAddress(address) && !common::IsLocalAddress(options_.advertise + ":1")) return "";
    return options_.advertise + address.substr(colon);
  }

  absl::StatusOr<v1::LogReply> SendLogs(v1::LogReport report) {
    report.set_node(options_.node);
    report.set_incarnation(folder_.incarnation());
    const common::ClusterIdentity obeys = link_->obeys();
    if (!obeys.cluster.empty()) common::ToMessage(obeys, report.mutable_obeys());
    return log_transport_->Send(report);
  }

  absl::StatusOr<v1::GetBundleReply> GetBundle(v1::GetBundleRequest request) {
    request.set_node(options_.node);
    request.set_incarnation(folder_.incarnation());
    const common::ClusterIdentity obeys = link_->obeys();
    if (!obeys.cluster.empty()) common::ToMessage(obeys, request.mutable_obeys());
    return bundle_transport_->Get(request);
  }

  v1::NodeReport MakeReport() const {
    v1::NodeReport report = facts_;
    report.set_checkpoint_incarnation(checkpoint_link_->incarnation());
    report.set_checkpoint_address(CheckpointAddress());
    for (std::string& absent : AbsentAmong(look_for_, machine_)) report.add_absent_trainers(std::move(absent));
    supervisor_.Report(&report);
    stored_->Report(&report);
    report.set_hint(drain_.hint().empty() ? supervisor_.WhyNoSlot() : drain_.hint());
    if (drain_.draining()) {
      report.set_draining(true);
      report.set_drain_reason(drain_.reason());
      const double left = drain_.until() - common::SteadySeconds();
      // The time left of a drain is rounded down to whole steps, so that the report changes seldom and the coordinator
      // is not flooded with reports. It is never rounded to 0, which would mean that the drain has no limit.
      if (!std::isinf(left)) {
        report.set_drain_within_seconds(
            std::max(kDrainReportStep, std::floor(left / kDrainReportStep) * kDrainReportStep));
      }
    }
    return report;
  }

  void Publish() {
    if (!settled_) return;
    v1::NodeReport report = MakeReport();
    std::string text = report.SerializeAsString();
    if (text == published_) return;
    published_ = std::move(text);
    link_->Publish(std::move(report));
  }

  bool Finished() const {
    if (supervisor_.running() > 0) return false;
    if (stopping_) return true;
    // A node that was told to stop ends without the coordinator's permission if it has no trainer to hand over and
    // either no coordinator is connected or another machine has the node's name.
    if (drain_.signalled() && (!link_->connected() || name_.waits())) return true;
    return drained_;
  }

  void Wait(double wake_at) {
    if (!std::isinf(drain_.until())) {
      wake_at = std::min({wake_at, stopping_ ? wake_at : drain_.until(), common::SteadySeconds() + kDrainReportStep});
    }
    wake_at = std::min(wake_at, common::SteadySeconds() + lonely_.SecondsToLook());
    if (!look_for_.empty()) wake_at = std::min(wake_at, common::SteadySeconds() + kLookAgainSeconds);
    std::vector<pollfd> fds = {{.fd = signals_.get(), .events = POLLIN}, {.fd = waker_.fd(), .events = POLLIN}};
    for (const int fd : supervisor_.WatchFds()) fds.push_back({.fd = fd, .events = POLLIN});
    const double seconds = wake_at - common::SteadySeconds();
    const int timeout = std::isinf(wake_at) ? -1 : static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 60.0) * 1000));
    poll(fds.data(), fds.size(), timeout);
    waker_.Clear();
  }

  const AgentOptions options_;
  const NodeFolder folder_;
  const common::UniqueFd signals_;
  const common::Waker waker_;
  AgentMetrics metrics_;
  LogShipper logs_;
  BundleKeeper bundles_;
  Supervisor supervisor_;
  LocalService local_service_;
  DriverQuestion driver_;
  const common::MachineIdentity machine_ = common::IdentifyMachine();
  const v1::NodeReport facts_ = NodeFacts(options_, folder_, machine_);
  std::unique_ptr<common::Server> server_;
  std::unique_ptr<CheckpointLink> checkpoint_link_;
  std::unique_ptr<StoredJobs> stored_;
  std::unique_ptr<CoordinatorLink> link_;
  std::unique_ptr<LogTransport> log_transport_;
  std::unique_ptr<BundleTransport> bundle_transport_;
  std::unique_ptr<NoticeWatcher> notices_;

  LonelyEnd lonely_;
  bool ends_alone_ = false;

  DrainState drain_;
  NameState name_;
  google::protobuf::RepeatedPtrField<v1::SoughtTrainer> look_for_;
  bool settled_ = false;
  bool stopping_ = false;
  bool drained_ = false;
  std::string published_;
};

}  // namespace

int RunAgent(const AgentOptions& options) {
  log::Init("rekindle-worker");
  common::RaiseDescriptorLimit();
  log::SetContext({{"node", options.node}});
  umask(0077);
  // The notices' HTTP client may write to a connection that the other side has closed, which must not kill the agent.
  signal(SIGPIPE, SIG_IGN);
  absl::StatusOr<common::UniqueFd> signals = common::OpenSignalFd({SIGTERM, SIGINT});
  if (!signals.ok()) {
    log::Error("cannot start", {{"error", std::string(signals.status().message())}});
    return kExitFailed;
  }
  absl::StatusOr<NodeFolder> folder = NodeFolder::Open(options.dir, kLockWaitSeconds);
  if (!folder.ok()) {
    log::Error("cannot use the folder", {{"error", std::string(folder.status().message())}});
    return absl::IsInternal(folder.status()) ? kExitFailed : kExitRefused;
  }
  AgentOptions settled = options;
  if (settled.memory_bytes == 0) {
    const absl::StatusOr<common::Memory> memory = common::ReadMemory();
    if (memory.ok()) settled.memory_bytes = static_cast<uint64_t>(memory->total);
  }
  if (const absl::Status gpus = SettleGpus(*folder, settled); !gpus.ok()) {
    log::Error("cannot start", {{"error", std::string(gpus.message())}});
    return kExitWrongUse;
  }
  SettleIsolation(*folder, settled);
  Agent agent(settled, *std::move(folder), *std::move(signals));
  const absl::Status started = agent.Start();
  if (!started.ok()) {
    log::Error("cannot start", {{"error", std::string(started.message())}});
    return absl::IsInvalidArgument(started) ? kExitWrongUse : kExitFailed;
  }
  return agent.Run();
}

}  // namespace rekindle::agent
