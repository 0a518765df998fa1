// Says who answers nodes and trainers, and decides whom this coordinator may tell what to do.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_VOICE_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_VOICE_H_

#include <functional>
#include <string>

#include "common/agreed/cluster_identity.h"
#include "common/metrics/metrics.h"
#include "common/sync/mutex.h"
#include "coordinator/store/cluster_record.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::coordinator {

// This class is thread-safe.
class Voice {
 public:
  // `on_superseded` is called once, from any thread, with what has to become durable.
  Voice(ClusterRecord record, common::Metrics* metrics, std::function<void(const ClusterRecord&)> on_superseded);

  // Puts the coordinator's identity on an answer. Once it was superseded, the answer says only that.
  void Sign(v1::TrainerDirective* directive) const;
  void Sign(v1::NodeDirective* directive) const;
  void Sign(v1::RenewLeaseReply* reply) const;
  // Returns false for a caller that obeys another cluster, which is counted and logged: it learns nothing but who
  // answers. A caller that has heard of a later epoch of this cluster ends this coordinator's decisions, unless the
  // coordinator still listens.
  bool MayTell(const std::string& who, const v1::ClusterIdentity& obeys);

  // Returns whether the caller obeys another epoch of this cluster than the coordinator's. It must then be answered at
  // once, even if nothing else is new.
  bool IsNewsTo(const v1::ClusterIdentity& obeys) const;

  // Ends listening: everybody who lives has been heard, and decisions begin in an epoch that is later than all that
  // were heard of. Returns what has to become durable before anybody is told anything.
  ClusterRecord BeginDecisions();

  ClusterRecord record() const;
  bool superseded() const;

 private:
  prometheus::Counter& foreign_;
  const std::function<void(const ClusterRecord&)> on_superseded_;
  mutable common::Mutex mutex_;
  ClusterRecord record_ ABSL_GUARDED_BY(mutex_);
  // `heard_` is the latest epoch that any caller has heard of.
  common::ClusterIdentity heard_ ABSL_GUARDED_BY(mutex_);
  double said_at_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Says in words that the coordinator was superseded, for whoever calls it. REQUIRES: it was superseded.
std::string DescribeSuperseded(const ClusterRecord& record);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_VOICE_H_
