#include "worker/train/testing/local_trainer.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "common/agreed/version.h"
#include "common/check/check.h"
#include "worker/comm/connect/host_communicator.h"
#include "worker/comm/connect/host_options.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/train/sessions/control_plane_proto.h"
#include "worker/train/testing/test_device.h"

namespace rekindle::train {

// Delivers each report at once, and again every 20 ms, as if calls over the network were lost and repeated.
class LocalTrainer::Control final : public ControlPlane {
 public:
  Control(LocalCoordinator& coordinator, LocalTrainer& trainer, std::string address, common::TimeSource clock,
          common::TimeSource lease_clock)
      : coordinator_(coordinator),
        trainer_(trainer),
        address_(std::move(address)),
        clock_(std::move(clock)),
        lease_(std::move(lease_clock)),
        thread_([this](std::stop_token stop) { Loop(stop); }) {}

  void Mute() {
    const common::MutexLock lock(mutex_);
    muted_ = true;
    directives_.Close();
  }

  void Publish(const Report& report, bool) override {
    const common::MutexLock lock(mutex_);
    report_ = report;
    fresh_ = true;
    changed_.NotifyAll();
  }
  void AddLoss(const StepLoss&) override {}
  const DirectiveBox& directives() const override { return directives_; }
  const Lease& lease() const override { return lease_; }
  checkpoint::JobFile JobFileNow() override {
    const std::string text = IsMuted() ? "" : coordinator_.JobFile();
    const common::MutexLock lock(mutex_);
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
    const common::MutexLock lock(mutex_);
    return muted_;
  }
  void Loop(std::stop_token stop) {
    common::MutexLock lock(mutex_);
    while (!stop.stop_requested()) {
      changed_.WaitFor(lock, stop, std::chrono::milliseconds(20),
                       [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return fresh_; });
      fresh_ = false;
      if (muted_) continue;
      const v1::TrainerReport message = Message();
      const double sent = lease_.Now();
      const bool asks = job_file_.empty();
      lock.Unlock();
      const std::optional<v1::TrainerDirective> answer = coordinator_.Answer(message);
      const std::string job_file = asks ? coordinator_.JobFile() : "";
      lock.Lock();
      if (!job_file.empty() && !muted_) job_file_ = job_file;
      if (muted_ || !answer) continue;
      lease_.Renew(directives_.Latest().membership.generation, sent);
      if (answer->revision() == revision_) continue;
      revision_ = answer->revision();
      Directive directive = FromProto(*answer, clock_());
      Membership& membership = directive.membership;
      if (membership.generation > 0) lease_.Begin(membership.generation, membership.lease_seconds, sent);
      directives_.Put(std::move(directive));
    }
  }

  v1::TrainerReport Message() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
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
  const common::TimeSource clock_;
  mutable common::Mutex mutex_;
  common::CondVar changed_;
  DirectiveBox directives_;
  Lease lease_;
  std::string job_file_ ABSL_GUARDED_BY(mutex_);
  Report report_ ABSL_GUARDED_BY(mutex_);
  bool fresh_ ABSL_GUARDED_BY(mutex_) = false;
  bool muted_ ABSL_GUARDED_BY(mutex_) = false;
  int sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  int revision_ ABSL_GUARDED_BY(mutex_) = 0;
  std::jthread thread_;
};

// Forwards every call to another communicator. While a Tracked exists, its LocalTrainer knows that communicator, so
// that a test can break it.
class LocalTrainer::Tracked final : public comm::Communicator {
 public:
  Tracked(LocalTrainer& trainer, std::unique_ptr<comm::Communicator> inner)
      : trainer_(trainer), inner_(std::move(inner)) {
    const common::MutexLock lock(trainer_.mutex_);
    trainer_.communicator_ = inner_.get();
  }
  ~Tracked() override {
    const common::MutexLock lock(trainer_.mutex_);
    trainer_.communicator_ = nullptr;
  }
  int rank() const override { return inner_->rank(); }
  int world_size() const override { return inner_->world_size(); }
  int generation() const override { return inner_->generation(); }
  comm::Work AllReduce(const void* in, void* out, size_t count, comm::DataType type, comm::ReduceOp op) override {
    Tell();
    return inner_->AllReduce(in, out, count, type, op);
  }
  comm::Work Broadcast(void* buffer, size_t bytes, int root) override {
    Tell();
    return inner_->Broadcast(buffer, bytes, root);
  }
  comm::Work AllGather(const void* in, void* out, size_t bytes) override {
    Tell();
    return inner_->AllGather(in, out, bytes);
  }
  comm::Work Send(const void* buffer, size_t bytes, int peer) override {
    Tell();
    return inner_->Send(buffer, bytes, peer);
  }
  comm::Work Recv(void* buffer, size_t bytes, int peer) override {
    Tell();
    return inner_->Recv(buffer, bytes, peer);
  }
  void Abort(absl::Status why) override { inner_->Abort(std::move(why)); }
  void Close() override { inner_->Close(); }
  void SetDeadlines(const comm::Deadlines& deadlines) override { inner_->SetDeadlines(deadlines); }
  comm::DeviceLane& device_lane() override { return inner_->device_lane(); }
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

namespace {

// Hands the options of the model on to it.
void Prepare(LocalTrainerOptions& local, BigramModel* model) {
  model->before_backward = std::move(local.before_backward);
  model->poison = std::move(local.poison);
  model->is_unused = std::move(local.is_unused);
  model->fails = std::move(local.fails);
  model->before_initialize = std::move(local.before_initialize);
  model->largest_gradient = local.largest_gradient;
  model->leaves_loss = HasOnlyKernels();
}

}  // namespace

LocalTrainer::LocalTrainer(LocalCoordinator& coordinator, const TrainSpec& spec, const std::string& node,
                           int incarnation, LocalTrainerOptions local)
    : coordinator_(coordinator),
      node_(node),
      id_(node + "/0/" + std::to_string(incarnation)),
      device_(local.make_device ? local.make_device() : MakeTestDevice(id_)),
      model_(local.ballast),
      before_collective_(std::move(local.before_collective)),
      timeline_(local.timeline, id_),
      listener_(*comm::Listener::Create("127.0.0.1:0", LocalCoordinator::kSecret)) {
  coordinator_.ReportTrainer(node_, id_, true);
  const device::NcclParts nccl = local.nccl.api != nullptr ? local.nccl : TestNccl();
  control_ = std::make_unique<Control>(coordinator_, *this, "127.0.0.1:" + std::to_string(listener_->port()),
                                       local.clock, std::move(local.lease_clock));
  batches_.before_read = std::move(local.before_read);
  Prepare(local, &model_);
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
  if (nccl.api != nullptr) options.device = {.uuid = id_, .nccl_version = comm::kFakeNcclVersion};
  Connect connect = [this](
                        const Membership& membership, int rank, const comm::Deadlines& deadlines,
                        OnCommunicatorError on_error, const std::function<bool()>& cancelled,
                        std::vector<comm::Accusation>* accused) -> absl::StatusOr<std::unique_ptr<comm::Communicator>> {
    comm::HostOptions host{
        .generation = membership.generation, .rank = rank, .membership = membership.digest, .deadlines = deadlines};
    for (const Member& member : membership.members) host.peers.push_back({member.address, member.host});
    host.on_error = std::move(on_error);
    host.held_up = [this] { return model_.IsHeldUp(); };
    auto inner = comm::ConnectHost(*listener_, std::move(host), cancelled, accused);
    if (!inner.ok()) return inner.status();
    return std::make_unique<Tracked>(*this, *std::move(inner));
  };
  engine_ =
      std::make_unique<Engine>(std::move(options), EngineParts{.device = *device_,
                                                               .model = model_,
                                                               .batches = batches_,
                                                               .control = *control_,
                                                               .connect = std::move(connect),
                                                               .checkpoints = checkpoints_.get(),
                                                               .open_store = std::move(open_store),
                                                               .resize_batches = [](int) { return absl::OkStatus(); },
                                                               .nccl = nccl,
                                                               .metrics = metrics_,
                                                               .timeline = timeline_,
                                                               .clock = std::move(local.clock)});
  thread_ = std::thread([this] {
    common::Check(engine_->Allocate().ok(), "a test has memory for its trainers");
    (void)engine_->Run();
  });
}

void LocalTrainer::BreakConnections() {
  const common::MutexLock lock(mutex_);
  if (communicator_ != nullptr) communicator_->Abort(absl::AbortedError("broken by the test"));
}

void LocalTrainer::Kill(bool agent_reports) {
  control_->Mute();
  engine_->Stop();
  BreakConnections();
  if (agent_reports) coordinator_.ReportTrainer(node_, id_, false);
}

LocalTrainer::~LocalTrainer() {
  engine_->Stop();
  control_->Mute();
  thread_.join();
}

}  // namespace rekindle::train
