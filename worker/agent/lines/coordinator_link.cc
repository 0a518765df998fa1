#include "worker/agent/lines/coordinator_link.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "common/log/log.h"
#include "common/rpc/rpc.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

using std::chrono::milliseconds;

// The time that a call waits at the coordinator has to be shorter than the silence after which the coordinator counts a
// node as silent.
constexpr int kWaitMs = 2000;
// If an answer takes `kAnswerMs` longer than the call may wait, the coordinator counts as away.
constexpr int kAnswerMs = 2000;
constexpr double kFirstRetryMs = 20;
constexpr double kLongestRetryMs = 200;
// A coordinator that this node does not obey is asked again after `kForeignRetryMs`.
constexpr double kForeignRetryMs = 1000;
// While a foreign coordinator answers, which this node does not obey, the log says so every `kForeignSeconds`.
constexpr double kForeignSeconds = 60;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

CoordinatorLink::CoordinatorLink(std::shared_ptr<grpc::Channel> channel, const common::Waker* waker,
                                 common::KnownCluster obeys, Heard heard)
    : stub_(v1::Nodes::NewStub(channel)),
      waker_(waker),
      heard_(std::move(heard)),
      obeys_(std::move(obeys)),
      thread_([this] { Loop(); }) {}

CoordinatorLink::~CoordinatorLink() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  changed_.NotifyAll();
  thread_.join();
}

void CoordinatorLink::Publish(v1::NodeReport report) {
  const common::MutexLock lock(mutex_);
  report_ = std::move(report);
  ++published_;
  if (waiting_ != nullptr) waiting_->TryCancel();
  changed_.NotifyAll();
}

std::optional<CoordinatorLink::Delivery> CoordinatorLink::Take() {
  const common::MutexLock lock(mutex_);
  return std::exchange(delivery_, std::nullopt);
}

bool CoordinatorLink::connected() const {
  const common::MutexLock lock(mutex_);
  return connected_;
}

bool CoordinatorLink::foreign() const {
  const common::MutexLock lock(mutex_);
  return foreign_;
}

int64_t CoordinatorLink::connection() const {
  const common::MutexLock lock(mutex_);
  return connected_ && !foreign_ ? connections_ : 0;
}

common::ClusterIdentity CoordinatorLink::obeys() const {
  const common::MutexLock lock(mutex_);
  return obeys_.known();
}

bool CoordinatorLink::CallOnce() {
  grpc::ClientContext context;
  v1::NodeReport report;
  int64_t number = 0;
  int wait_ms = 0;
  {
    const common::MutexLock lock(mutex_);
    if (stopping_) return true;
    report = report_;
    number = published_;
    const bool news = must_ask_ || answered_ < published_;
    wait_ms = news ? 0 : kWaitMs;
    call_ = &context;
    waiting_ = news ? nullptr : &context;
    report.set_known_revision(known_revision_);
    if (!obeys_.known().cluster.empty()) common::ToMessage(obeys_.known(), report.mutable_obeys());
  }
  report.set_wait_ms(wait_ms);
  context.set_deadline(std::chrono::system_clock::now() + milliseconds(wait_ms + kAnswerMs));
  v1::NodeDirective directive;
  // The time `sent` is taken before the call waits at the coordinator, because what the answer says may be as old as
  // the call.
  const double sent = common::BootSeconds();
  const grpc::Status status = stub_->Sync(&context, report, &directive);

  const common::MutexLock lock(mutex_);
  const bool cancelled_for_news = waiting_ != nullptr && answered_ < published_;
  call_ = waiting_ = nullptr;
  const common::ClusterIdentity before = obeys_.known();
  const std::string refusal = status.ok() ? common::WhyNotObeyed(directive, obeys_) : "";
  foreign_ = !refusal.empty();
  if (foreign_) {
    NoteFailure("the one that answers is not obeyed: " + refusal, kForeignSeconds);
    return false;
  }
  if (status.ok()) {
    if (before != obeys_.known()) heard_(obeys_.known());
    if (!connected_) {
      log::Info("coordinator answers");
      ++connections_;
    }
    connected_ = true;
    complained_at_.reset();
    must_ask_ = false;
    answered_ = std::max(answered_, number);
    if (!delivery_) delivery_ = Delivery();
    delivery_->sent = sent;
    delivery_->alone_seconds = directive.alone_seconds();
    delivery_->spend_seconds = directive.has_spend_seconds() ? std::optional(directive.spend_seconds()) : std::nullopt;
    if (directive.revision() != known_revision_) {
      known_revision_ = directive.revision();
      delivery_->directive = std::move(directive);
    }
    waker_->Wake();
    return true;
  }
  if (status.error_code() == grpc::StatusCode::CANCELLED && (cancelled_for_news || stopping_)) return true;
  NoteFailure(std::string(common::StatusFromGrpc(status).message()), kNever);
  return false;
}

void CoordinatorLink::NoteFailure(const std::string& why, double again_after) {
  must_ask_ = true;
  connected_ = false;
  const double now = common::SteadySeconds();
  // If the trouble changes from "no coordinator answers" to "a foreign one answers", or back, the log says so at once.
  if (!complained_at_ || now >= *complained_at_ + again_after || complained_of_foreign_ != foreign_) {
    log::Warning("coordinator away: trainers go on, trying again", {{"error", why}});
    complained_at_ = now;
    complained_of_foreign_ = foreign_;
  }
  waker_->Wake();
}

void CoordinatorLink::Loop() {
  {
    common::MutexLock lock(mutex_);
    changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || published_ > 0; });
  }
  double retry_ms = kFirstRetryMs;
  for (;;) {
    const bool ok = CallOnce();
    common::MutexLock lock(mutex_);
    if (stopping_) return;
    if (ok) {
      retry_ms = kFirstRetryMs;
      continue;
    }
    const double jitter = std::uniform_real_distribution<double>(0.5, 1.0)(random_);
    const double pause_ms = foreign_ ? kForeignRetryMs : retry_ms;
    changed_.WaitFor(lock, std::chrono::duration<double, std::milli>(pause_ms * jitter),
                     [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; });
    retry_ms = std::min(2 * retry_ms, kLongestRetryMs);
  }
}

}  // namespace rekindle::agent
