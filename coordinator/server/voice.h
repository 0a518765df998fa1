// Who answers nodes and trainers, and whom it may tell what to do.
#ifndef REKINDLE_COORDINATOR_SERVER_VOICE_H_
#define REKINDLE_COORDINATOR_SERVER_VOICE_H_

#include <mutex>
#include <string>

#include "common/cluster_identity.h"
#include "common/metrics.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::coordinator {

// Thread-safe.
class Voice {
 public:
  Voice(common::ClusterIdentity identity, common::Metrics* metrics);

  // Puts its name on an answer.
  void Sign(v1::TrainerDirective* directive) const;
  void Sign(v1::NodeDirective* directive) const;
  void Sign(v1::RenewLeaseReply* reply) const;
  // False, which is counted and said, of one that obeys another cluster: it is told nothing but who answers.
  bool MayTell(const std::string& who, const v1::ClusterIdentity& obeys) const;

 private:
  const common::ClusterIdentity identity_;
  prometheus::Counter& foreign_;
  mutable std::mutex mutex_;
  mutable double said_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_VOICE_H_
