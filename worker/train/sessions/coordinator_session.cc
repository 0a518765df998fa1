#include "worker/train/sessions/coordinator_session.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <thread>

#include "common/agreed/cluster_identity.h"
#include "common/agreed/version.h"
#include "common/log/log.h"
#include "common/process/machine_identity.h"
#include "common/process/process.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "rekindle/v1/trainer.grpc.pb.h"
#include "worker/train/sessions/control_plane_proto.h"
#include "worker/train/sessions/lease_renewal.h"
#include "worker/train/sessions/obeyed_cluster.h"

namespace rekindle::train {
namespace {

constexpr int kWaitMs = 10'000;
// A coordinator that is silent for `kCallSlackSeconds` after a call should have ended counts as away.
constexpr double kCallSlackSeconds = 5;
// Reports on which no decision of the coordinator depends are sent at most once in `kProgressSeconds`.
constexpr double kProgressSeconds = 0.05;
// The first retry after a failed call comes after `kRetrySeconds`. Each further pause is twice as long.
constexpr double kRetrySeconds = 0.05;
constexpr double kLongestRetrySeconds = 0.2;
// A save waits at most `kJobFileSeconds` for the job file that goes beside it.
constexpr double kJobFileSeconds = 1;
// While another cluster's coordinator answers, the log says so every `kForeignSeconds`.
constexpr double kForeignSeconds = 60;
constexpr double kForeignRetrySeconds = 1;
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kMaxLosses = 4096;

v1::ProcessName ThisProcess() {
  v1::ProcessName name;
  const absl::StatusOr<common::ProcessIdentity> identity = common::Identify(getpid());
  if (!identity.ok()) return name;
  const common::MachineIdentity machine = common::IdentifyMachine();
  name.set_pid(identity->pid);
  name.set_started(identity->start_time_ticks);
  name.mutable_machine()->set_boot(machine.boot);
  name.mutable_machine()->set_processes(machine.processes);
  name.mutable_machine()->set_hardware(machine.hardware);
  return name;
}

class Session final : public ControlPlane {
 public:
  Session(std::shared_ptr<grpc::Channel> channel, TrainerIdentity identity)
      : identity_(std::move(identity)),
        cluster_(identity_.obeys),
        stub_(v1::Trainers::NewStub(channel)),
        renewal_(identity_, *stub_, directives_, cluster_, lease_),
        thread_([this] { Loop(); }) {}

  ~Session() override {
    {
      const common::MutexLock lock(mutex_);
      stopping_ = true;
      if (call_) call_->TryCancel();
    }
    changed_.NotifyAll();
    thread_.join();
    directives_.Close();
  }

  void Publish(const Report& report, bool urgent) override {
    const common::MutexLock lock(mutex_);
    report_ = report;
    ++report_version_;
    urgent_ = urgent_ || urgent;
    InterruptWait();
  }

  void AddLoss(const StepLoss& loss) override {
    const common::MutexLock lock(mutex_);
    losses_.push_back(loss);
    if (losses_.size() > kMaxLosses) losses_.pop_front();
  }

  const DirectiveBox& directives() const override { return directives_; }

  const Lease& lease() const override { return lease_; }

  checkpoint::JobFile JobFileNow() override {
    bool asks = false;
    {
      const common::MutexLock lock(mutex_);
      asks = !away_ && !stopping_;
    }
    if (asks) renewal_.AskForJobFile(kJobFileSeconds);
    return renewal_.job_file().Newest();
  }

  std::string JobFileOfEnd(double seconds) override {
    renewal_.AskForJobFile(seconds);
    return renewal_.job_file().OfEnd();
  }

 private:
  // Ends the call that waits at the coordinator for a directive if there is something to report.
  void InterruptWait() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool due = common::SteadySeconds() - sent_at_ >= kProgressSeconds;
    if (call_ && (urgent_ || due)) call_->TryCancel();
    changed_.NotifyAll();
  }

  v1::TrainerReport NextReport() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    v1::TrainerReport message;
    ToProto(report_, &message);
    message.set_job_uid(identity_.job_uid);
    message.set_trainer(identity_.trainer);
    message.set_node(identity_.node);
    message.set_job_secret(identity_.job_secret);
    message.set_address(identity_.address);
    message.set_host(identity_.host);
    *message.mutable_process() = process_;
    const common::ClusterIdentity known = cluster_.known();
    if (!known.cluster.empty()) common::ToMessage(known, message.mutable_obeys());
    // The coordinator that comes back may be another one with older records, so the report tells it the newest
    // membership.
    if ((away_ || tell_) && told_.generation() > 0) {
      *message.mutable_membership() = told_;
      message.set_job_file(renewal_.job_file().Newest().text);
    }
    message.set_protocol_version(common::kProtocolVersion);
    message.set_sequence(++sequence_);
    message.set_known_revision(known_revision_);
    message.set_wait_ms(kWaitMs);
    for (const StepLoss& loss : losses_) {
      v1::LossPoint* point = message.add_losses();
      point->set_step(static_cast<int32_t>(loss.step));
      point->set_value(loss.value);
    }
    return message;
  }

  // Makes one call to the coordinator. Returns true if the coordinator answered or this side cancelled the call.
  bool CallOnce() {
    grpc::ClientContext context;
    v1::TrainerReport message;
    size_t losses_sent = 0;
    bool away_noticed = false;
    const double sent = lease_.Now();
    {
      const common::MutexLock lock(mutex_);
      if (stopping_) return true;
      away_noticed = away_;
      message = NextReport();
      losses_sent = losses_.size();
      sent_version_ = report_version_;
      urgent_ = false;
      sent_at_ = common::SteadySeconds();
      call_ = &context;
    }
    // With wait-for-ready, the call is sent the moment the coordinator is back.
    if (away_noticed) context.set_wait_for_ready(true);
    context.set_deadline(
        std::chrono::system_clock::now() + std::chrono::milliseconds(kWaitMs) +
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(kCallSlackSeconds)));
    v1::TrainerDirective reply;
    const grpc::Status status = stub_->Sync(&context, message, &reply);
    const common::MutexLock lock(mutex_);
    call_ = nullptr;
    const std::string refusal = status.ok() ? cluster_.WhyNotObeyed(reply) : "";
    foreign_ = !refusal.empty();
    if (foreign_) {
      SetAway("the one that answers is not obeyed: " + refusal, kForeignSeconds);
      return false;
    }
    if (status.ok()) {
      losses_.erase(losses_.begin(), losses_.begin() + static_cast<long>(std::min(losses_sent, losses_.size())));
      Take(reply, sent);
      return true;
    }
    if (status.error_code() == grpc::StatusCode::CANCELLED) return true;
    SetAway(status.error_message(), kNever);
    return false;
  }

  // Logs that the coordinator is away, at once and then every `seconds`.
  void SetAway(const std::string& why, double seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const double now = common::SteadySeconds();
    // A change between no answer at all and answers of another cluster's coordinator is logged at once.
    if (!away_ || now >= said_away_ + seconds || said_foreign_ != foreign_) {
      log::Warning("coordinator away; training goes on", {{"error", why}});
      said_away_ = now;
      said_foreign_ = foreign_;
    }
    away_ = true;
  }

  void Take(const v1::TrainerDirective& reply, double sent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (away_) log::Info("coordinator is back");
    away_ = false;
    const bool is_news = reply.revision() != known_revision_;
    if (is_news) tell_ = reply.tell_membership();
    if (!tell_) lease_.Spend(reply.has_spend_seconds() ? reply.spend_seconds() : kNever, sent);
    if (!is_news) return;
    known_revision_ = reply.revision();
    // The coordinator has no directive before it knows the membership. So the earlier directive stays valid.
    if (tell_) return;
    Directive directive = FromProto(reply, common::SteadySeconds());
    if (Stands(directive)) {
      lease_.Begin(directive.membership.generation, directive.membership.lease_seconds, sent);
      told_ = reply.membership();
    }
    directives_.Put(std::move(directive));
  }

  void Loop() {
    double retry = kRetrySeconds;
    for (;;) {
      const bool answered = CallOnce();
      common::MutexLock lock(mutex_);
      if (stopping_) return;
      if (answered) {
        retry = kRetrySeconds;
        // If the answered or cancelled call began less than `kProgressSeconds` ago, a report that is not urgent waits
        // for the rest of this time.
        const double due = sent_at_ + kProgressSeconds - common::SteadySeconds();
        if (due > 0 && !urgent_ && report_version_ != sent_version_) Pause(lock, due);
      } else {
        Pause(lock, foreign_ ? kForeignRetrySeconds : retry);
        retry = std::min(2 * retry, kLongestRetrySeconds);
      }
    }
  }

  void Pause(common::MutexLock& lock, double seconds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    changed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return urgent_ || stopping_; });
  }

  const TrainerIdentity identity_;
  ObeyedCluster cluster_;
  const v1::ProcessName process_ = ThisProcess();
  const std::unique_ptr<v1::Trainers::Stub> stub_;

  common::Mutex mutex_;
  common::CondVar changed_;
  Report report_ ABSL_GUARDED_BY(mutex_);
  int64_t report_version_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t sent_version_ ABSL_GUARDED_BY(mutex_) = 0;
  bool urgent_ ABSL_GUARDED_BY(mutex_) = false;
  bool away_ ABSL_GUARDED_BY(mutex_) = false;
  // `foreign_` says that the last coordinator that answered belongs to another cluster and is not obeyed.
  bool foreign_ ABSL_GUARDED_BY(mutex_) = false;
  double said_away_ ABSL_GUARDED_BY(mutex_) = 0;
  bool said_foreign_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  double sent_at_ ABSL_GUARDED_BY(mutex_) = 0;
  int sequence_ ABSL_GUARDED_BY(mutex_) = 0;
  int known_revision_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<StepLoss> losses_ ABSL_GUARDED_BY(mutex_);
  // `told_` is the newest membership with this trainer that a directive named.
  v1::Membership told_ ABSL_GUARDED_BY(mutex_);
  // `tell_` says that the coordinator does not know the membership `told_` and has to be told.
  bool tell_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  DirectiveBox directives_;
  Lease lease_;
  LeaseRenewal renewal_;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPlane>> ConnectCoordinator(const std::string& endpoint,
                                                                 TrainerIdentity identity) {
  auto channel = common::Connect(endpoint);
  if (!channel.ok()) return channel.status();
  return std::make_unique<Session>(*std::move(channel), std::move(identity));
}

}  // namespace rekindle::train
