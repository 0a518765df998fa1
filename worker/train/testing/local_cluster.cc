#include "worker/train/testing/local_cluster.h"

#include <algorithm>
#include <chrono>

#include "common/clock.h"
#include "common/version.h"
#include "coordinator/core/job_file.h"
#include "worker/train/control_plane_proto.h"

namespace rekindle::train {
namespace {

constexpr double kPatienceSeconds = 120;  // A busy machine is slow.

v1::JobRecord RecordOf(const TrainSpec& spec, int min_workers) {
  v1::JobRecord record;
  record.set_secret(LocalCoordinator::kSecret);
  v1::Job& job = *record.mutable_job();
  job.set_name("test");
  job.set_uid(LocalCoordinator::kUid);
  v1::JobSpec& resolved = *job.mutable_status()->mutable_resolved_spec();
  resolved.mutable_workers()->set_min(min_workers);
  resolved.mutable_workers()->set_max(spec.micro_batches());
  resolved.mutable_training()->set_steps(spec.steps);
  resolved.mutable_training()->set_global_batch(spec.global_batch);
  resolved.mutable_training()->set_micro_batch(spec.micro_batch);
  resolved.mutable_training()->set_reduce(spec.exact ? "exact" : spec.sixteen_bit ? "bf16" : "fp32");
  resolved.mutable_training()->set_optimizer_state(spec.sharded_state ? "sharded" : "whole");
  if (spec.checkpoint.kind != CheckpointSpec::Kind::kNever) resolved.mutable_checkpoint()->set_store("memory");
  *job.mutable_spec() = resolved;
  return record;
}

v1::NodeReport NodeReportOf(const std::string& node, const std::string& trainer, bool running) {
  v1::NodeReport report;
  report.set_node(node);
  report.set_incarnation("folder of " + node);
  report.set_agent_incarnation("agent of " + node);
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(1);
  v1::TrainerProcess& process = *report.add_trainers();
  process.set_trainer(trainer);
  process.set_job_uid(LocalCoordinator::kUid);
  process.set_running(running);
  process.set_exit_code(running ? 0 : -9);
  process.set_exit_seen(!running);
  return report;
}

}  // namespace

LocalCoordinator::LocalCoordinator(const TrainSpec& spec, int min_workers)
    : cluster_(std::make_unique<core::Cluster>()), ticker_([this](std::stop_token stop) { TickLoop(stop); }) {
  Feed(core::Restored{});
  Feed(core::SubmitJob{RecordOf(spec, min_workers)});
}

LocalCoordinator::~LocalCoordinator() { ticker_.request_stop(); }

void LocalCoordinator::StepLocked(const core::Event& event) {
  const core::Effects effects = cluster_->Step(event, common::SteadySeconds());
  for (const v1::JobRecord& record : effects.save_jobs) saved_jobs_[record.job().uid()] = record;
  for (const v1::NodeRecord& record : effects.save_nodes) saved_nodes_[record.name()] = record;
  wake_at_ = effects.wake_at;
  ++version_;
  changed_.notify_all();
}

void LocalCoordinator::Feed(const core::Event& event) {
  std::lock_guard lock(mutex_);
  if (!away_) StepLocked(event);
}

void LocalCoordinator::TickLoop(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const double wait = std::clamp(wake_at_ - common::SteadySeconds(), 0.001, 1.0);
    const int64_t seen = version_;
    changed_.wait_for(lock, stop, std::chrono::duration<double>(wait), [&] { return version_ != seen; });
    if (!away_ && common::SteadySeconds() >= wake_at_) StepLocked(core::Tick{});
  }
}

std::optional<v1::TrainerDirective> LocalCoordinator::Answer(const v1::TrainerReport& report) {
  std::lock_guard lock(mutex_);
  if (away_) return std::nullopt;
  StepLocked(core::TrainerReported{report});
  return cluster_->DirectiveForTrainer(kUid, report.trainer());
}

void LocalCoordinator::AddSpare(const std::string& node) {
  v1::NodeReport report = NodeReportOf(node, "", true);
  report.clear_trainers();
  Feed(core::NodeReported{report});
}

v1::JobStatus LocalCoordinator::Status() {
  std::lock_guard lock(mutex_);
  const v1::JobRecord* record = cluster_->FindJob("test");
  return record == nullptr ? v1::JobStatus() : record->job().status();
}

std::string LocalCoordinator::JobFile() {
  std::lock_guard lock(mutex_);
  const v1::JobRecord* record = away_ ? nullptr : cluster_->FindJob(kUid);
  if (record == nullptr) return "";
  return core::EncodeJobFile(core::MakeJobFile(*record, {}, common::WallSeconds())).value_or("");
}

void LocalCoordinator::Restart() {
  std::lock_guard lock(mutex_);
  core::Restored restored;
  for (const auto& [uid, record] : saved_jobs_) restored.jobs.push_back(record);
  for (const auto& [name, record] : saved_nodes_) restored.nodes.push_back(record);
  cluster_ = std::make_unique<core::Cluster>();
  away_ = false;
  StepLocked(restored);
}

void LocalCoordinator::SetAway(bool away) {
  std::lock_guard lock(mutex_);
  away_ = away;
}

bool LocalCoordinator::Await(const std::function<bool(const v1::JobStatus&)>& done) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(kPatienceSeconds), [&] {
    const v1::JobRecord* record = cluster_->FindJob("test");
    return record != nullptr && done(record->job().status());
  });
}

// Delivers each report at once, and again every 20 ms: what a lost and repeated call over the network would do.
class LocalTrainer::Control final : public ControlPlane {
 public:
  Control(LocalCoordinator& coordinator, LocalTrainer& trainer, std::string address,
          std::function<double()> lease_clock)
      : coordinator_(coordinator),
        trainer_(trainer),
        address_(std::move(address)),
        lease_(std::move(lease_clock)),
        thread_([this](std::stop_token stop) { Loop(stop); }) {}

  void Mute() {
    std::lock_guard lock(mutex_);
    muted_ = true;
  }

  void Publish(const Report& report, bool) override {
    std::lock_guard lock(mutex_);
    report_ = report;
    fresh_ = true;
    changed_.notify_all();
  }
  void AddLoss(const StepLoss&) override {}
  Directive Latest() const override {
    std::lock_guard lock(mutex_);
    return directive_;
  }
  int64_t Version() const override {
    std::lock_guard lock(mutex_);
    return version_;
  }
  void WaitForChange(int64_t seen, double seconds) const override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return version_ != seen || muted_; });
  }
  const Lease& lease() const override { return lease_; }
  checkpoint::JobFile JobFileNow() override {
    const std::string text = IsMuted() ? "" : coordinator_.JobFile();
    std::lock_guard lock(mutex_);
    if (!text.empty()) job_file_ = text;
    return {.text = job_file_, .required = true};
  }
  std::string JobFileOfEnd(double) override {
    const v1::JobState state = coordinator_.Status().state();
    const bool over = state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
    return over && !IsMuted() ? coordinator_.JobFile() : "";
  }

 private:
  bool IsMuted() const {
    std::lock_guard lock(mutex_);
    return muted_;
  }
  void Loop(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.wait_for(lock, stop, std::chrono::milliseconds(20), [&] { return fresh_; });
      fresh_ = false;
      if (muted_) continue;
      const v1::TrainerReport message = Message();
      const double sent = lease_.Now();
      const bool asks = job_file_.empty();
      lock.unlock();
      const std::optional<v1::TrainerDirective> answer = coordinator_.Answer(message);
      const std::string job_file = asks ? coordinator_.JobFile() : "";
      lock.lock();
      if (!job_file.empty() && !muted_) job_file_ = job_file;
      if (muted_ || !answer) continue;
      const Membership& membership = directive_.membership;
      lease_.Renew(membership.generation, sent);
      if (answer->revision() == revision_) continue;
      revision_ = answer->revision();
      directive_ = FromProto(*answer);
      if (membership.generation > 0) lease_.Begin(membership.generation, membership.lease_seconds, sent);
      ++version_;
      changed_.notify_all();
    }
  }

  v1::TrainerReport Message() {
    v1::TrainerReport message;
    ToProto(report_, &message);
    message.set_job_uid(LocalCoordinator::kUid);
    message.set_trainer(trainer_.id());
    message.set_node(trainer_.node_);
    message.set_job_secret(LocalCoordinator::kSecret);
    message.set_protocol_version(common::kProtocolVersion);
    message.set_sequence(++sequence_);
    message.set_known_revision(revision_);
    message.set_address(address_);
    message.set_host(trainer_.node_);
    return message;
  }

  LocalCoordinator& coordinator_;
  LocalTrainer& trainer_;
  const std::string address_;
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  Lease lease_;
  std::string job_file_;
  Report report_;
  bool fresh_ = false;
  bool muted_ = false;
  int sequence_ = 0;
  int revision_ = 0;
  int64_t version_ = 0;
  Directive directive_;
  std::jthread thread_;
};

// Forwards everything; known to its trainer as long as it lives, so that a test can break it.
class LocalTrainer::Tracked final : public comm::Communicator {
 public:
  Tracked(LocalTrainer& trainer, std::unique_ptr<comm::Communicator> inner)
      : trainer_(trainer), inner_(std::move(inner)) {
    std::lock_guard lock(trainer_.mutex_);
    trainer_.communicator_ = inner_.get();
  }
  ~Tracked() override {
    std::lock_guard lock(trainer_.mutex_);
    trainer_.communicator_ = nullptr;
  }
  int rank() const override { return inner_->rank(); }
  int world_size() const override { return inner_->world_size(); }
  int generation() const override { return inner_->generation(); }
  comm::Work AllReduce(const void* in, void* out, size_t count, comm::DataType type, comm::ReduceOp op,
                       comm::Stream stream) override {
    Tell();
    return inner_->AllReduce(in, out, count, type, op, stream);
  }
  comm::Work Broadcast(void* buffer, size_t bytes, int root, comm::Stream stream) override {
    Tell();
    return inner_->Broadcast(buffer, bytes, root, stream);
  }
  comm::Work AllGather(const void* in, void* out, size_t bytes, comm::Stream stream) override {
    Tell();
    return inner_->AllGather(in, out, bytes, stream);
  }
  comm::Work Send(const void* buffer, size_t bytes, int peer, comm::Stream stream) override {
    Tell();
    return inner_->Send(buffer, bytes, peer, stream);
  }
  comm::Work Recv(void* buffer, size_t bytes, int peer, comm::Stream stream) override {
    Tell();
    return inner_->Recv(buffer, bytes, peer, stream);
  }
  void Abort(absl::Status why) override { inner_->Abort(std::move(why)); }
  void Close() override { inner_->Close(); }
  void SetDeadlines(const comm::Deadlines& deadlines) override { inner_->SetDeadlines(deadlines); }
  double send_blocked_seconds() const override { return inner_->send_blocked_seconds(); }
  absl::Status status() const override { return inner_->status(); }
  std::vector<comm::Accusation> accusations() const override { return inner_->accusations(); }

 private:
  void Tell() const {
    if (trainer_.before_collective_) trainer_.before_collective_();
  }

  LocalTrainer& trainer_;
  std::unique_ptr<comm::Communicator> inner_;
};

LocalTrainer::LocalTrainer(LocalCoordinator& coordinator, const TrainSpec& spec, const std::string& node,
                           int incarnation, LocalTrainerOptions local)
    : coordinator_(coordinator),
      node_(node),
      id_(node + "/0/" + std::to_string(incarnation)),
      model_(local.ballast),
      before_collective_(std::move(local.before_collective)),
      timeline_(local.timeline, id_),
      listener_(*comm::Listener::Create("127.0.0.1:0", LocalCoordinator::kSecret)) {
  coordinator_.Feed(core::NodeReported{NodeReportOf(node_, id_, true)});
  control_ = std::make_unique<Control>(coordinator_, *this, "127.0.0.1:" + std::to_string(listener_->port()),
                                       std::move(local.lease_clock));
  model_.before_backward = std::move(local.before_backward);
  model_.poison = std::move(local.poison);
  model_.largest_gradient = local.largest_gradient;
  if (local.checkpoints != nullptr) checkpoints_ = local.checkpoints->ClientOf(id_);
  OpenStore open_store;
  if (local.elsewhere != nullptr) {
    open_store = [this, elsewhere = local.elsewhere](const std::string&) { return elsewhere->ClientOf(id_); };
  }
  EngineOptions options;
  options.trainer = id_;
  options.spec = spec;
  options.data_fingerprint = "chain";
  options.probe_digest = "bigram";
  Connect connect = [this](
                        const Membership& membership, int rank, const comm::Deadlines& deadlines,
                        OnCommunicatorError on_error, const std::function<bool()>& cancelled,
                        std::vector<comm::Accusation>* accused) -> absl::StatusOr<std::unique_ptr<comm::Communicator>> {
    comm::HostOptions host{
        .generation = membership.generation, .rank = rank, .membership = membership.digest, .deadlines = deadlines};
    for (const Member& member : membership.members) host.peers.push_back({member.address, member.host});
    host.on_error = std::move(on_error);
    auto inner = comm::ConnectHost(*listener_, std::move(host), cancelled, accused);
    if (!inner.ok()) return inner.status();
    return std::make_unique<Tracked>(*this, *std::move(inner));
  };
  engine_ =
      std::make_unique<Engine>(std::move(options), EngineParts{.model = model_,
                                                               .batches = batches_,
                                                               .control = *control_,
                                                               .connect = std::move(connect),
                                                               .checkpoints = checkpoints_.get(),
                                                               .open_store = std::move(open_store),
                                                               .resize_batches = [](int) { return absl::OkStatus(); },
                                                               .metrics = metrics_,
                                                               .timeline = timeline_,
                                                               .clock = std::move(local.clock)});
  thread_ = std::thread([this] { (void)engine_->Run(); });
}

void LocalTrainer::BreakConnections() {
  std::lock_guard lock(mutex_);
  if (communicator_ != nullptr) communicator_->Abort(absl::AbortedError("broken by the test"));
}

void LocalTrainer::Kill(bool agent_reports) {
  control_->Mute();
  engine_->Stop();
  BreakConnections();
  if (agent_reports) coordinator_.Feed(core::NodeReported{NodeReportOf(node_, id_, false)});
}

LocalTrainer::~LocalTrainer() {
  engine_->Stop();
  control_->Mute();
  control_->Publish({}, true);  // Wakes the engine's wait.
  thread_.join();
}

}  // namespace rekindle::train
