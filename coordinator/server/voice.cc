#include "coordinator/server/voice.h"

#include <utility>

#include "common/clock.h"
#include "common/log.h"

namespace rekindle::coordinator {
namespace {

constexpr double kForeignSeconds = 60;  // So often the log names one of another cluster.

}  // namespace

Voice::Voice(common::ClusterIdentity identity, common::Metrics* metrics)
    : identity_(std::move(identity)),
      foreign_(metrics->Counter("rekindle_foreign_calls_total", "Calls of nodes and trainers of other clusters.")) {}

void Voice::Sign(v1::TrainerDirective* directive) const { common::ToMessage(identity_, directive->mutable_identity()); }

void Voice::Sign(v1::NodeDirective* directive) const {
  common::ToMessage(identity_, directive->mutable_identity());
  for (v1::DesiredTrainer& trainer : *directive->mutable_trainers()) {
    common::ToMessage(identity_, trainer.mutable_identity());
  }
}

void Voice::Sign(v1::RenewLeaseReply* reply) const { common::ToMessage(identity_, reply->mutable_identity()); }

bool Voice::MayTell(const std::string& who, const v1::ClusterIdentity& obeys) const {
  const common::ClusterIdentity theirs = common::FromMessage(obeys);
  if (theirs.cluster.empty() || theirs.cluster == identity_.cluster) return true;
  foreign_.Increment();
  const double now = common::SteadySeconds();
  const std::lock_guard lock(mutex_);
  if (said_at_ != 0 && now < said_at_ + kForeignSeconds) return false;
  said_at_ = now;
  log::Warning(
      "one of another cluster calls, and is told nothing; a node becomes free by `rekindle-worker forget-cluster`",
      {{"who", who}, {"its_cluster", theirs.cluster}, {"ours", identity_.cluster}});
  return false;
}

}  // namespace rekindle::coordinator
