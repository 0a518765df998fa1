#include "worker/agent/agent.h"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/alone.h"
#include "common/clock.h"
#include "common/descriptors.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/rpc.h"
#include "common/version.h"
#include "worker/agent/agent_metrics.h"
#include "worker/agent/alone.h"
#include "worker/agent/checkpoint_probe.h"
#include "worker/agent/coordinator_link.h"
#include "worker/agent/drain.h"
#include "worker/agent/init.h"
#include "worker/agent/local_service.h"
#include "worker/agent/log_shipper.h"
#include "worker/agent/log_transport.h"
#include "worker/agent/name_state.h"
#include "worker/agent/node_folder.h"
#include "worker/agent/notices/watcher.h"
#include "worker/agent/small_file.h"
#include "worker/agent/sought.h"
#include "worker/agent/stored_jobs.h"
#include "worker/agent/supervisor.h"
#include "worker/models/pinned_environment.h"

namespace rekindle::agent {
namespace {

constexpr double kLockWaitSeconds = 3;
constexpr double kLastLinesSeconds = 2;   // A node that leaves waits so long for its last lines to be sent.
constexpr double kDrainReportStep = 0.5;  // The time left is told in such steps, so that a drain is not a flood.
constexpr double kLookAgainSeconds = 1;   // For trainers of others that are to be looked for, and are still there.
constexpr int kAgentIncarnationBytes = 8;
constexpr double kKeptSeconds = 3600;  // So often it is said that a final state keeps the machine.
constexpr double kAloneStep = 60;      // The end is written down when it has moved by so many seconds.
constexpr size_t kMaxAloneBytes = 1024;
constexpr int kMaxLocalMessageBytes = 1 << 20;

// What each of its trainers may use.
double ShareOf(const AgentOptions& options) { return static_cast<double>(options.memory_bytes) / options.slots; }

v1::Device DeviceOf(const AgentOptions& options) {
  v1::Device device;
  if (options.gpus.count > 0) {
    device.set_kind("cuda");
    device.set_compute_capability(options.gpus.compute_capability);
    device.set_memory_bytes(options.gpus.memory_bytes);
    return device;
  }
  device.set_kind("cpu");
  device.set_memory_bytes(ShareOf(options));
  for (const std::string& unit : models::CpuUnits()) device.add_units(unit);
  return device;
}

class Agent {
 public:
  Agent(const AgentOptions& options, NodeFolder folder, common::UniqueFd signals)
      : options_(options),
        folder_(std::move(folder)),
        signals_(std::move(signals)),
        logs_({.folder = folder_.LogFolder()}),
        supervisor_({.launch = {.trainer_binary = options.trainer_binary,
                                .coordinator = options.coordinator,
                                .node = options.node,
                                .advertise = options.advertise,
                                .memory_bytes = ShareOf(options),
                                .gpus = options.gpus.count,
                                .data_roots = options.data_roots},
                     .slots = options.slots,
                     .policy = {.stop_grace_seconds = options.stop_grace_seconds}},
                    &folder_, &metrics_, &logs_, &waker_),
        local_service_(&supervisor_),
        incarnation_(RandomHex(kAgentIncarnationBytes)),
        alone_(common::BootSeconds(), options.first_heard_seconds) {
    const absl::StatusOr<std::string> known = ReadSmallFile(folder_.AloneFile(), kMaxAloneBytes);
    if (known.ok()) alone_.Recall(*known, machine_.boot, common::BootSeconds());
  }

  ~Agent() { logs_.Stop(); }  // It asks the link.

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
    probe_ = std::make_unique<CheckpointProbe>(*checkpoint, &waker_);
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
      const double wake_at = supervisor_.Act(common::SteadySeconds());
      Publish();
      if (Finished()) {
        logs_.Finish(kLastLinesSeconds);
        log::Info(drained_ ? "drained: leaving" : "leaving");
        if (drained_) notices_->AcknowledgeAll();
        if (!ends_alone_) return kExitOk;
        RemoveFile(folder_.AloneFile());  // Whoever starts it once more begins to count anew.
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
    settled_ = notices_->settled();  // In this order: what is told below rests on a verdict as settled as that.
    drain_.Noticed(notices_->verdict());
    supervisor_.SetDraining(drain_.draining());
    if (stopping_ || common::SteadySeconds() < drain_.until()) return;
    stopping_ = true;
    if (supervisor_.running() > 0) log::Warning("the drain is out of time: stopping the trainers");
    supervisor_.StopAll();
  }

  // Without a coordinator for too long: once nothing is left to be saved, the machine ends with this agent.
  void ConsiderEnd() {
    if (stopping_) return;
    const double now = common::BootSeconds(), until = alone_.until();
    if (now < until || link_->connected()) {  // Where one answers, it decides.
      if (std::exchange(told_alone_at_, 0) != 0) log::Info("a coordinator is heard of again: this machine goes on");
      return;
    }
    if (told_alone_at_ == 0) {
      log::Warning(
          "nothing was heard of a coordinator for as long as this machine may run, or its jobs may spend: it ends",
          {{"saves_for_seconds", common::kMachineEndSeconds}});
      told_alone_at_ = now;
    }
    if (supervisor_.KeepsFinalState()) {
      if (now >= kept_told_at_ + kKeptSeconds) {
        log::Warning("a job's final state is here and not durable: this machine runs on until it is");
        kept_told_at_ = now;
      }
      return;
    }
    if (supervisor_.IsBusy() && now < told_alone_at_ + common::kMachineEndSeconds) return;
    ends_alone_ = stopping_ = true;
    supervisor_.StopAll();
  }

  // An agent that comes after this one counts on.
  void RememberAlone() {
    const double until = alone_.until();
    const bool is_same = std::isinf(until) ? std::isinf(alone_written_) : std::abs(until - alone_written_) < kAloneStep;
    if (is_same) return;
    alone_written_ = until;
    const absl::Status written = ReplaceFile(folder_.AloneFile(), alone_.Text(machine_.boot));
    if (written.ok()) return;
    log::Warning("how long this machine may run alone could not be written down",
                 {{"error", std::string(written.message())}});
  }

  // An exit code when the coordinator refuses this node.
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
      look_for_ = delivery->directive->look_for();
      if (!name_.waits()) probe_->SetPeers(PeersIn(*delivery->directive));
      drained_ = delivery->directive->drained();
    }
    alone_.Heard(delivery->sent, delivery->alone_seconds, delivery->spend_seconds, supervisor_.LeavesAlone());
    RememberAlone();
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

  // Where peers reach this node's checkpoint service: under the node's own name, unless it listens on loopback alone
  // while the node is advertised elsewhere.
  std::string CheckpointAddress() const {
    const std::string address = probe_->address();
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

  v1::NodeReport MakeReport() const {
    v1::NodeReport report;
    report.set_node(options_.node);
    report.set_incarnation(folder_.incarnation());
    report.set_home(folder_.home());
    report.set_agent_incarnation(incarnation_);
    report.set_protocol_version(common::kProtocolVersion);
    report.set_version(common::kVersion);
    report.set_slots(options_.slots);
    report.set_checkpoint_incarnation(probe_->incarnation());
    report.set_checkpoint_address(CheckpointAddress());
    report.set_zone(options_.zone);
    report.set_pool(options_.pool);
    *report.mutable_device() = device_;
    ToProto(machine_, report.mutable_machine());
    for (std::string& absent : AbsentAmong(look_for_, machine_)) report.add_absent_trainers(std::move(absent));
    supervisor_.Report(&report);
    stored_->Report(&report);
    report.set_hint(drain_.hint());
    if (drain_.draining()) {
      report.set_draining(true);
      report.set_drain_reason(drain_.reason());
      const double left = drain_.until() - common::SteadySeconds();
      // 0 means: without a limit.
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
    // Nothing to hand over, and nobody to tell, or nobody who asks.
    if (drain_.signalled() && (!link_->connected() || name_.waits())) return true;
    return drained_;
  }

  void Wait(double wake_at) {
    if (!std::isinf(drain_.until())) {
      wake_at = std::min({wake_at, stopping_ ? wake_at : drain_.until(), common::SteadySeconds() + kDrainReportStep});
    }
    if (!std::isinf(alone_.until())) {
      const double left = told_alone_at_ != 0 ? kLookAgainSeconds : alone_.until() - common::BootSeconds();
      wake_at = std::min(wake_at, common::SteadySeconds() + left);
    }
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
  const Waker waker_;
  AgentMetrics metrics_;
  LogShipper logs_;
  Supervisor supervisor_;
  LocalService local_service_;
  const std::string incarnation_;
  const v1::Device device_ = DeviceOf(options_);
  const common::Machine machine_ = common::ThisMachine();
  std::unique_ptr<common::Server> server_;
  std::unique_ptr<CheckpointProbe> probe_;
  std::unique_ptr<StoredJobs> stored_;
  std::unique_ptr<CoordinatorLink> link_;
  std::unique_ptr<LogTransport> log_transport_;
  std::unique_ptr<NoticeWatcher> notices_;

  Alone alone_;
  double alone_written_ = std::numeric_limits<double>::infinity();  // Its end, as it was written down last.
  double told_alone_at_ = 0;                                        // It ends since then; 0: it does not.
  double kept_told_at_ = -kKeptSeconds;
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
  signal(SIGPIPE, SIG_IGN);  // The HTTP client of notices writes to connections that may be closed.
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
  Agent agent(settled, *std::move(folder), *std::move(signals));
  const absl::Status started = agent.Start();
  if (!started.ok()) {
    log::Error("cannot start", {{"error", std::string(started.message())}});
    return absl::IsInvalidArgument(started) ? kExitWrongUse : kExitFailed;
  }
  return agent.Run();
}

}  // namespace rekindle::agent
