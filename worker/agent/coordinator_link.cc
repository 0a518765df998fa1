#include "worker/agent/coordinator_link.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "common/clock.h"
#include "common/log.h"
#include "common/rpc.h"

namespace rekindle::agent {
namespace {

using std::chrono::milliseconds;

constexpr int kWaitMs = 2000;    // Shorter than what makes a node count as silent.
constexpr int kAnswerMs = 2000;  // An answer that takes longer beyond the wait: the coordinator is away.
constexpr double kFirstRetryMs = 20;
constexpr double kLongestRetryMs = 200;
constexpr double kForeignRetryMs = 1000;  // Of a coordinator that this node does not obey,
constexpr double kForeignSeconds = 60;    // and so often it is said.
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

CoordinatorLink::CoordinatorLink(std::shared_ptr<grpc::Channel> channel, const Waker* waker, common::KnownCluster obeys,
                                 Heard heard)
    : stub_(v1::Nodes::NewStub(channel)),
      waker_(waker),
      heard_(std::move(heard)),
      obeys_(std::move(obeys)),
      thread_([this] { Loop(); }) {}

CoordinatorLink::~CoordinatorLink() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  changed_.notify_all();
  thread_.join();
}

void CoordinatorLink::Publish(v1::NodeReport report) {
  std::lock_guard lock(mutex_);
  report_ = std::move(report);
  ++published_;
  if (waiting_ != nullptr) waiting_->TryCancel();
  changed_.notify_all();
}

std::optional<CoordinatorLink::Delivery> CoordinatorLink::Take() {
  std::lock_guard lock(mutex_);
  return std::exchange(delivery_, std::nullopt);
}

bool CoordinatorLink::connected() const {
  std::lock_guard lock(mutex_);
  return connected_;
}

bool CoordinatorLink::foreign() const {
  std::lock_guard lock(mutex_);
  return foreign_;
}

int64_t CoordinatorLink::connection() const {
  std::lock_guard lock(mutex_);
  return connected_ && !foreign_ ? connections_ : 0;
}

common::ClusterIdentity CoordinatorLink::obeys() const {
  std::lock_guard lock(mutex_);
  return obeys_.known();
}

bool CoordinatorLink::CallOnce() {
  grpc::ClientContext context;
  v1::NodeReport report;
  int64_t number = 0;
  int wait_ms = 0;
  {
    std::lock_guard lock(mutex_);
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
  const double sent = common::BootSeconds();  // The wait counts: what is told may be that old.
  const grpc::Status status = stub_->Sync(&context, report, &directive);

  std::lock_guard lock(mutex_);
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
    if (!delivery_) delivery_.emplace();
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

// REQUIRES: mutex_ held.
void CoordinatorLink::NoteFailure(const std::string& why, double again_after) {
  must_ask_ = true;
  connected_ = false;
  const double now = common::SteadySeconds();
  // That another one answers is news, also after nobody did.
  if (!complained_at_ || now >= *complained_at_ + again_after || complained_of_foreign_ != foreign_) {
    log::Warning("coordinator away: trainers go on, trying again", {{"error", why}});
    complained_at_ = now;
    complained_of_foreign_ = foreign_;
  }
  waker_->Wake();
}

void CoordinatorLink::Loop() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || published_ > 0; });
  }
  double retry_ms = kFirstRetryMs;
  for (;;) {
    const bool ok = CallOnce();
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    if (ok) {
      retry_ms = kFirstRetryMs;
      continue;
    }
    const double jitter = std::uniform_real_distribution<double>(0.5, 1.0)(random_);
    const double pause_ms = foreign_ ? kForeignRetryMs : retry_ms;
    changed_.wait_for(lock, std::chrono::duration<double, std::milli>(pause_ms * jitter), [&] { return stopping_; });
    retry_ms = std::min(2 * retry_ms, kLongestRetryMs);
  }
}

}  // namespace rekindle::agent
