// Who answers nodes and trainers, and whom it may tell what to do.
#ifndef REKINDLE_COORDINATOR_SERVER_VOICE_H_
#define REKINDLE_COORDINATOR_SERVER_VOICE_H_

#include <functional>
#include <mutex>
#include <string>

#include "common/cluster_identity.h"
#include "common/metrics.h"
#include "coordinator/cluster_record.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::coordinator {

// Thread-safe.
class Voice {
 public:
  // `on_superseded` is called once, from any thread, with what is to be made durable.
  Voice(ClusterRecord record, common::Metrics* metrics, std::function<void(const ClusterRecord&)> on_superseded);

  // Puts its name on an answer; once superseded, that is all that the answer says.
  void Sign(v1::TrainerDirective* directive) const;
  void Sign(v1::NodeDirective* directive) const;
  void Sign(v1::RenewLeaseReply* reply) const;
  // False, which is counted and said, of one that obeys another cluster: it is told nothing but who answers. One that
  // has heard of a later epoch of this cluster ends this coordinator's decisions, unless it listens still.
  bool MayTell(const std::string& who, const v1::ClusterIdentity& obeys);

  // Has it heard of an earlier epoch only? Then it is to be answered at once, also where nothing else is new.
  bool IsNewsTo(const v1::ClusterIdentity& obeys) const;

  // Whoever lives has been heard of: decisions begin, in an epoch later than all that these have heard of. Gives what
  // is to be durable before anybody is told anything.
  ClusterRecord BeginDecisions();

  ClusterRecord record() const;
  bool superseded() const;

 private:
  prometheus::Counter& foreign_;
  const std::function<void(const ClusterRecord&)> on_superseded_;
  mutable std::mutex mutex_;
  ClusterRecord record_;
  common::ClusterIdentity heard_;  // The latest epoch that anybody has heard of.
  double said_at_ = 0;
};

// In words, for whoever asks it for anything. REQUIRES: it was superseded.
std::string DescribeSuperseded(const ClusterRecord& record);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_VOICE_H_
