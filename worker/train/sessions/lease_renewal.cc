#include "worker/train/sessions/lease_renewal.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "common/time/clock.h"

namespace rekindle::train {
namespace {

// A lease is renewed `kRenewalsInALease` times while it lasts, with pauses between `kShortestPause` and
// `kLongestPause`.
constexpr double kRenewalsInALease = 20;
constexpr double kLongestPause = 10;
constexpr double kShortestPause = 0.1;
// A permission to spend for less than `kShortestGrant` seconds is renewed only as often as one for `kShortestGrant`
// seconds, because its job is about to stop.
constexpr double kShortestGrant = 20;
// While the trainer has no generation, no lease is renewed, and the thread only wakes every `kIdleSeconds`.
constexpr double kIdleSeconds = 60;
// A renewal that the coordinator does not answer is repeated after `kUnansweredSeconds`.
constexpr double kUnansweredSeconds = 1;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

bool Stands(const Directive& directive) {
  return directive.action == Directive::Action::kRun || directive.action == Directive::Action::kYield;
}

LeaseRenewal::LeaseRenewal(const TrainerIdentity& identity, v1::Trainers::Stub& stub, const DirectiveBox& directives,
                           ObeyedCluster& cluster, Lease& lease)
    : identity_(identity), stub_(stub), directives_(directives), cluster_(cluster), lease_(lease), thread_([this] {
        Loop();
      }) {}

LeaseRenewal::~LeaseRenewal() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
    if (call_ != nullptr) call_->TryCancel();
  }
  thread_.join();
}

bool LeaseRenewal::IsStopping() const {
  const common::MutexLock lock(mutex_);
  return stopping_;
}

bool LeaseRenewal::KeepsJobFile(const Directive& directive) const {
  return Stands(directive) && directive.membership.RankOf(identity_.trainer) == 0;
}

bool LeaseRenewal::IsFirst(int asked_as) const {
  const Directive newest = directives_.Latest();
  return KeepsJobFile(newest) && newest.membership.generation != asked_as;
}

void LeaseRenewal::Loop() {
  // `asked_as` is the newest generation in which the job file was asked for.
  int asked_as = 0;
  bool answered = true;
  while (!IsStopping()) {
    const int64_t seen = directives_.Version();
    const Directive directive = directives_.Latest();
    const double lease_seconds = directive.membership.lease_seconds;
    const double least = std::min(Stands(directive) && lease_seconds > 0 ? lease_seconds : kNever,
                                  Stands(directive) ? std::max(lease_.SpendSeconds(), kShortestGrant) : kNever);
    const double patience = std::clamp(least / kRenewalsInALease, kShortestPause, kLongestPause);
    const bool asks = least < kNever || KeepsJobFile(directive);
    if (!IsFirst(asked_as)) {
      const double pause = !asks ? kIdleSeconds : answered ? patience : std::min(patience, kUnansweredSeconds);
      if (!Pause(seen, pause, asks, asked_as) || !asks) continue;
    }
    asked_as = directives_.Latest().membership.generation;
    answered = AskOnce(patience);
  }
}

bool LeaseRenewal::Pause(int64_t seen, double seconds, bool asks, int asked_as) {
  const double end = common::SteadySeconds() + seconds;
  for (double left = seconds; left > 0; left = end - common::SteadySeconds()) {
    directives_.WaitForChange(seen, left);
    if (IsStopping()) return false;
    const int64_t version = directives_.Version();
    if (version != seen && (!asks || IsFirst(asked_as))) return false;
    seen = version;
  }
  return true;
}

// Renews the lease and waits at most `seconds` for the answer. Returns false if no obeyed coordinator has answered.
bool LeaseRenewal::AskOnce(double seconds) {
  const Directive directive = directives_.Latest();
  const v1::RenewLeaseRequest request = NextRequest(directive);
  grpc::ClientContext context;
  {
    const common::MutexLock lock(mutex_);
    if (stopping_) return false;
    call_ = &context;
  }
  const double sent = lease_.Now();
  const std::optional<v1::RenewLeaseReply> reply = Call(context, request, KeepsJobFile(directive), seconds);
  {
    const common::MutexLock lock(mutex_);
    call_ = nullptr;
  }
  if (!reply) return false;
  if (reply->stands()) lease_.Renew(request.generation(), sent);
  const bool is_told = reply->stands() || reply->has_spend_seconds();
  if (is_told) lease_.Spend(reply->has_spend_seconds() ? reply->spend_seconds() : kNever, sent);
  return true;
}

void LeaseRenewal::AskForJobFile(double seconds) {
  grpc::ClientContext context;
  Call(context, NextRequest(directives_.Latest()), /*wants_job_file=*/true, seconds);
}

v1::RenewLeaseRequest LeaseRenewal::NextRequest(const Directive& directive) const {
  v1::RenewLeaseRequest request;
  request.set_job_uid(identity_.job_uid);
  request.set_job_secret(identity_.job_secret);
  request.set_generation(directive.membership.generation);
  request.set_digest(directive.membership.digest);
  common::ToMessage(cluster_.known(), request.mutable_obeys());
  return request;
}

std::optional<v1::RenewLeaseReply> LeaseRenewal::Call(grpc::ClientContext& context, v1::RenewLeaseRequest request,
                                                      bool wants_job_file, double seconds) {
  const int64_t number = wants_job_file ? job_file_.Ask(&request) : 0;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::duration<double>(seconds)));
  v1::RenewLeaseReply reply;
  if (!stub_.RenewLease(&context, request, &reply).ok()) return std::nullopt;
  if (!cluster_.Obeys(common::FromMessage(reply.identity()))) return std::nullopt;
  if (wants_job_file) job_file_.Take(reply, number);
  return reply;
}

}  // namespace rekindle::train
