#include "coordinator/server/services/voice.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::coordinator {
namespace {

// The log names a caller that obeys another cluster at most every `kForeignSeconds` seconds.
constexpr double kForeignSeconds = 60;
// An epoch that is more than `kMostEpochsAhead` ahead of the coordinator's own cannot be genuine.
constexpr int kMostEpochsAhead = 1'000'000;

// Returns whether the coordinator was superseded. If so, the answer is cleared and says only that.
template <typename Answer>
bool SaysSuperseded(const ClusterRecord& record, Answer* answer) {
  if (!record.superseded_by) return false;
  answer->Clear();
  common::ToMessage(*record.superseded_by, answer->mutable_superseded_by());
  return true;
}

bool Names(const v1::ClusterIdentity& named, const common::ClusterIdentity& identity) {
  return named.epoch() == identity.epoch && named.epoch_tag() == identity.epoch_tag &&
         named.cluster() == identity.cluster;
}

}  // namespace

Voice::Voice(ClusterRecord record, common::Metrics* metrics, std::function<void(const ClusterRecord&)> on_superseded)
    : foreign_(metrics->Counter("rekindle_foreign_calls_total", "Calls of nodes and trainers of other clusters.")),
      on_superseded_(std::move(on_superseded)),
      record_(std::move(record)) {}

ClusterRecord Voice::record() const {
  const common::MutexLock lock(mutex_);
  return record_;
}

void Voice::Sign(v1::TrainerDirective* directive) const {
  const common::MutexLock lock(mutex_);
  (void)SaysSuperseded(record_, directive);
  common::ToMessage(record_.identity, directive->mutable_identity());
}

void Voice::Sign(v1::NodeDirective* directive) const {
  const common::MutexLock lock(mutex_);
  (void)SaysSuperseded(record_, directive);
  common::ToMessage(record_.identity, directive->mutable_identity());
  for (v1::DesiredTrainer& trainer : *directive->mutable_trainers()) {
    common::ToMessage(record_.identity, trainer.mutable_identity());
  }
}

void Voice::Sign(v1::RenewLeaseReply* reply) const {
  const common::MutexLock lock(mutex_);
  if (record_.superseded_by) reply->set_stands(false);
  common::ToMessage(record_.identity, reply->mutable_identity());
}

bool Voice::superseded() const {
  const common::MutexLock lock(mutex_);
  return record_.superseded_by.has_value();
}

bool Voice::MayTell(const std::string& who, const v1::ClusterIdentity& obeys) {
  common::MutexLock lock(mutex_);
  if (record_.superseded_by) return false;
  const common::ClusterIdentity& ours = record_.identity;
  if (obeys.cluster().empty() || Names(obeys, ours)) return true;
  const common::ClusterIdentity theirs = common::FromMessage(obeys);
  if (theirs.cluster.empty()) return true;
  const bool is_of_us = theirs.cluster == ours.cluster && theirs.epoch - ours.epoch <= kMostEpochsAhead;
  if (is_of_us && !common::IsLater(theirs, ours)) return true;
  if (is_of_us && record_.listen_first) {
    if (heard_.cluster.empty() || common::IsLater(theirs, heard_)) heard_ = theirs;
    return true;
  }
  if (is_of_us) {
    record_.superseded_by = theirs;
    const ClusterRecord record = record_;
    lock.Unlock();
    log::Error("superseded: nothing is decided any more", {{"who", who}, {"by", common::Describe(theirs)}});
    on_superseded_(record);
    return false;
  }
  foreign_.Increment();
  const double now = common::SteadySeconds();
  if (said_at_ != 0 && now < said_at_ + kForeignSeconds) return false;
  said_at_ = now;
  log::Warning(
      "one of another cluster calls, and is told nothing; a node becomes free by `rekindle-worker forget-cluster`",
      {{"who", who}, {"its_cluster", theirs.cluster}, {"ours", ours.cluster}});
  return false;
}

bool Voice::IsNewsTo(const v1::ClusterIdentity& obeys) const {
  const common::MutexLock lock(mutex_);
  const common::ClusterIdentity& ours = record_.identity;
  return obeys.cluster() == ours.cluster && obeys.epoch() >= 1 && !Names(obeys, ours);
}

ClusterRecord Voice::BeginDecisions() {
  const common::MutexLock lock(mutex_);
  if (!heard_.cluster.empty()) record_.identity = common::NextEpoch(record_.identity, heard_);
  record_.listen_first = false;
  return record_;
}

std::string DescribeSuperseded(const ClusterRecord& record) {
  return absl::StrCat("superseded by ", common::Describe(*record.superseded_by),
                      ": another coordinator of this cluster has taken over, and this one decides nothing any more; "
                      "stop it, and let everybody call the other one");
}

}  // namespace rekindle::coordinator
