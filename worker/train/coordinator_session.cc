#include "worker/train/coordinator_session.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include "common/clock.h"
#include "common/log.h"
#include "common/machine.h"
#include "common/process.h"
#include "common/rpc.h"
#include "common/version.h"
#include "rekindle/v1/trainer.grpc.pb.h"
#include "worker/train/control_plane_proto.h"
#include "worker/train/known_job_file.h"

namespace rekindle::train {
namespace {

constexpr int kWaitMs = 10'000;
constexpr double kCallSlackSeconds = 5;    // Beyond the wait: a coordinator that says nothing for so long is away.
constexpr double kProgressSeconds = 0.05;  // Reports without news for a decision go out at most so often.
constexpr double kRetrySeconds = 0.05;     // After a failed call; doubles to the next.
constexpr double kLongestRetrySeconds = 0.2;
constexpr double kRenewalsInALease = 20;   // So often it is asked whether the generation stands, and at least each
constexpr double kLongestRenewPause = 10;  // so many seconds.
constexpr double kShortestRenewPause = 0.1;
constexpr double kShortestGrant = 20;     // One that is shorter is not asked for more often: its job is about to stop.
constexpr double kIdleRenewSeconds = 60;  // Without a generation nothing is asked.
constexpr double kUnansweredSeconds = 1;  // After a renewal without an answer.
constexpr double kJobFileSeconds = 1;     // What is saved does not wait longer for what is to be beside it.
constexpr double kForeignSeconds = 60;    // So often it is said that another cluster's coordinator answers,
constexpr double kForeignRetrySeconds = 1;  // and so often it is asked.
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kMaxLosses = 4096;

v1::ProcessName ThisProcess() {
  v1::ProcessName name;
  const absl::StatusOr<common::ProcessIdentity> identity = common::Identify(getpid());
  if (!identity.ok()) return name;
  const common::Machine machine = common::ThisMachine();
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
        thread_([this] { Loop(); }),
        renew_thread_([this] { RenewLoop(); }) {}

  ~Session() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      if (call_) call_->TryCancel();
      if (renew_call_) renew_call_->TryCancel();
    }
    changed_.notify_all();
    thread_.join();
    renew_thread_.join();
  }

  void Publish(const Report& report, bool urgent) override {
    std::lock_guard lock(mutex_);
    report_ = report;
    ++report_version_;
    urgent_ = urgent_ || urgent;
    InterruptWait();
  }

  void AddLoss(const StepLoss& loss) override {
    std::lock_guard lock(mutex_);
    losses_.push_back(loss);
    if (losses_.size() > kMaxLosses) losses_.pop_front();
  }

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
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return version_ != seen || stopping_; });
  }

  const Lease& lease() const override { return lease_; }

  checkpoint::JobFile JobFileNow() override {
    bool asks = false;
    {
      std::lock_guard lock(mutex_);
      asks = !away_ && !stopping_;
    }
    if (asks) AskForJobFile(kJobFileSeconds);
    return job_file_.Newest();
  }

  std::string JobFileOfEnd(double seconds) override {
    AskForJobFile(seconds);
    return job_file_.OfEnd();
  }

 private:
  // Ends the call that waits at the coordinator when there is something to tell it. REQUIRES: mutex_ held.
  void InterruptWait() {
    const bool due = common::SteadySeconds() - sent_at_ >= kProgressSeconds;
    if (call_ && (urgent_ || due)) call_->TryCancel();
    changed_.notify_all();
  }

  v1::TrainerReport NextReport() {
    v1::TrainerReport message;
    ToProto(report_, &message);
    message.set_job_uid(identity_.job_uid);
    message.set_trainer(identity_.trainer);
    message.set_node(identity_.node);
    message.set_job_secret(identity_.job_secret);
    message.set_address(identity_.address);
    message.set_host(identity_.host);
    *message.mutable_process() = process_;
    if (!cluster_.known().cluster.empty()) common::ToMessage(cluster_.known(), message.mutable_obeys());
    // One that was away may be another when it is back, on older records.
    if ((away_ || tell_) && told_.generation() > 0) {
      *message.mutable_membership() = told_;
      message.set_job_file(job_file_.Newest().text);
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

  // One call. True when it was answered or ended by us.
  bool CallOnce() {
    grpc::ClientContext context;
    v1::TrainerReport message;
    size_t losses_sent = 0;
    bool away_noticed = false;
    const double sent = lease_.Now();
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return true;
      away_noticed = away_;
      message = NextReport();
      losses_sent = losses_.size();
      sent_version_ = report_version_;
      urgent_ = false;
      sent_at_ = common::SteadySeconds();
      call_ = &context;
    }
    if (away_noticed) context.set_wait_for_ready(true);  // Goes out the moment the coordinator is back.
    context.set_deadline(
        std::chrono::system_clock::now() + std::chrono::milliseconds(kWaitMs) +
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(kCallSlackSeconds)));
    v1::TrainerDirective reply;
    const grpc::Status status = stub_->Sync(&context, message, &reply);
    std::lock_guard lock(mutex_);
    call_ = nullptr;
    const std::string refusal = status.ok() ? common::WhyNotObeyed(reply, cluster_) : "";
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

  // Says so at once, and again each `seconds`. REQUIRES: mutex_ held.
  void SetAway(const std::string& why, double seconds) {
    const double now = common::SteadySeconds();
    // That another one answers is news, also after nobody did.
    if (!away_ || now >= said_away_ + seconds || said_foreign_ != foreign_) {
      log::Warning("coordinator away; training goes on", {{"error", why}});
      said_away_ = now;
      said_foreign_ = foreign_;
    }
    away_ = true;
  }

  // REQUIRES: mutex_ held.
  void Take(const v1::TrainerDirective& reply, double sent) {
    if (away_) log::Info("coordinator is back");
    away_ = false;
    const bool is_news = reply.revision() != known_revision_;
    if (is_news) tell_ = reply.tell_membership();
    if (!tell_) lease_.Spend(reply.has_spend_seconds() ? reply.spend_seconds() : kNever, sent);
    if (!is_news) return;
    known_revision_ = reply.revision();
    if (tell_) return;  // What it was told before stands.
    directive_ = FromProto(reply);
    const Membership& membership = directive_.membership;
    if (Stands()) lease_.Begin(membership.generation, membership.lease_seconds, sent);
    if (Stands()) told_ = reply.membership();
    ++version_;
    changed_.notify_all();
  }

  void Loop() {
    double retry = kRetrySeconds;
    for (;;) {
      const bool answered = CallOnce();
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      if (answered) {
        retry = kRetrySeconds;
        // A cancelled wait: news younger than a progress tick waits for the rest of it.
        const double due = sent_at_ + kProgressSeconds - common::SteadySeconds();
        if (due > 0 && !urgent_ && report_version_ != sent_version_) Pause(lock, due);
      } else {
        Pause(lock, foreign_ ? kForeignRetrySeconds : retry);
        retry = std::min(2 * retry, kLongestRetrySeconds);
      }
    }
  }

  // Rank 0 of a membership hands on what the job's store is to keep. REQUIRES: mutex_ held.
  bool KeepsJobFile() const { return Stands() && directive_.membership.RankOf(identity_.trainer) == 0; }
  bool Stands() const {
    return directive_.action == Directive::Action::kRun || directive_.action == Directive::Action::kYield;
  }

  // Beside the reports: each of those is cancelled by the next, and a cancelled call is no answer.
  void RenewLoop() {
    std::unique_lock lock(mutex_);
    int asked_as = 0;  // The newest generation in which the job's file was asked for.
    bool answered = true;
    while (!stopping_) {
      const double least =
          std::min(Stands() && directive_.membership.lease_seconds > 0 ? directive_.membership.lease_seconds : kNever,
                   Stands() ? std::max(lease_.SpendSeconds(), kShortestGrant) : kNever);
      const double patience = std::clamp(least / kRenewalsInALease, kShortestRenewPause, kLongestRenewPause);
      const bool asks = least < kNever || KeepsJobFile();
      const auto is_first = [&] { return KeepsJobFile() && directive_.membership.generation != asked_as; };
      if (!is_first()) {
        const int64_t seen = version_;
        const double pause = !asks ? kIdleRenewSeconds : answered ? patience : std::min(patience, kUnansweredSeconds);
        const auto told = [&] { return stopping_ || (version_ != seen && (!asks || is_first())); };
        if (changed_.wait_for(lock, std::chrono::duration<double>(pause), told) || !asks) continue;
      }
      asked_as = directive_.membership.generation;
      answered = AskOnce(lock, patience);
    }
  }

  // False: nobody that is obeyed has answered.
  bool AskOnce(std::unique_lock<std::mutex>& lock, double seconds) {
    v1::RenewLeaseRequest request = NextRenewal();
    if (KeepsJobFile()) job_file_.Ask(&request);
    grpc::ClientContext context;
    renew_call_ = &context;
    const double sent = lease_.Now();
    lock.unlock();
    const std::optional<v1::RenewLeaseReply> reply = Renew(context, request, seconds);
    lock.lock();
    renew_call_ = nullptr;
    if (!reply) return false;
    if (reply->stands()) lease_.Renew(request.generation(), sent);
    const bool is_told = reply->stands() || reply->has_spend_seconds();
    if (is_told) lease_.Spend(reply->has_spend_seconds() ? reply->spend_seconds() : kNever, sent);
    return true;
  }

  void AskForJobFile(double seconds) {
    v1::RenewLeaseRequest request;
    {
      std::lock_guard lock(mutex_);
      request = NextRenewal();
    }
    job_file_.Ask(&request);
    grpc::ClientContext context;
    Renew(context, request, seconds);
  }

  // REQUIRES: mutex_ held.
  v1::RenewLeaseRequest NextRenewal() const {
    v1::RenewLeaseRequest request;
    request.set_job_uid(identity_.job_uid);
    request.set_job_secret(identity_.job_secret);
    request.set_generation(directive_.membership.generation);
    request.set_digest(directive_.membership.digest);
    common::ToMessage(cluster_.known(), request.mutable_obeys());
    return request;
  }

  // Of a coordinator that is obeyed; none: there was none.
  std::optional<v1::RenewLeaseReply> Renew(grpc::ClientContext& context, const v1::RenewLeaseRequest& request,
                                           double seconds) {
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds)));
    v1::RenewLeaseReply reply;
    if (!stub_->RenewLease(&context, request, &reply).ok()) return std::nullopt;
    {
      std::lock_guard lock(mutex_);
      if (!cluster_.Obeys(common::FromMessage(reply.identity()))) return std::nullopt;
    }
    if (request.wants_job_file()) job_file_.Take(reply);
    return reply;
  }

  void Pause(std::unique_lock<std::mutex>& lock, double seconds) {
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return urgent_ || stopping_; });
  }

  const TrainerIdentity identity_;
  common::KnownCluster cluster_;  // Under mutex_.
  const v1::ProcessName process_ = ThisProcess();
  const std::unique_ptr<v1::Trainers::Stub> stub_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Report report_;
  int64_t report_version_ = 0;
  int64_t sent_version_ = 0;
  bool urgent_ = false;
  bool away_ = false;
  bool foreign_ = false;  // The last one that answered was not obeyed.
  double said_away_ = 0;
  bool said_foreign_ = false;
  bool stopping_ = false;
  double sent_at_ = 0;
  int sequence_ = 0;
  int known_revision_ = 0;
  std::deque<StepLoss> losses_;
  Directive directive_;
  v1::Membership told_;  // The newest that this trainer was told to be in.
  bool tell_ = false;    // The coordinator does not know it.
  int64_t version_ = 0;
  grpc::ClientContext* call_ = nullptr;
  grpc::ClientContext* renew_call_ = nullptr;
  Lease lease_;
  KnownJobFile job_file_;
  std::thread thread_;
  std::thread renew_thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ControlPlane>> ConnectCoordinator(const std::string& endpoint,
                                                                 TrainerIdentity identity) {
  auto channel = common::Connect(endpoint);
  if (!channel.ok()) return channel.status();
  return std::make_unique<Session>(*std::move(channel), std::move(identity));
}

}  // namespace rekindle::train
