// Puts the coordinator's identity on its answers to nodes and trainers, and decides which nodes and trainers it may
// give directives to.
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

// Voice is thread-safe.
class Voice {
 public:
  // `on_superseded` is called once, from any thread, with the cluster record that has to become durable.
  Voice(ClusterRecord record, common::Metrics* metrics, std::function<void(const ClusterRecord&)> on_superseded);

  // Puts the coordinator's identity on an answer. Once the coordinator was superseded, the answer says only that.
  void Sign(v1::TrainerDirective* directive) const;
  void Sign(v1::NodeDirective* directive) const;
  void Sign(v1::RenewLeaseReply* reply) const;
  // Returns whether the caller may be told more than the coordinator's identity. A caller that obeys another cluster
  // may not, and is counted and logged. Once the coordinator was superseded, no caller may. If the caller has heard of
  // a later epoch of the coordinator's cluster, the coordinator counts as superseded from then on, unless it has not
  // begun to decide yet.
  bool MayTell(const std::string& who, const v1::ClusterIdentity& obeys);

  // Returns whether the caller obeys the coordinator's cluster, but another epoch than the coordinator's. The caller
  // must then be answered at once, even if nothing else is new.
  bool IsNewsTo(const v1::ClusterIdentity& obeys) const;

  // Ends the time in which the coordinator only takes reports, because every node and trainer that lives has had time
  // to report. The coordinator then decides in an epoch that is later than all epochs that it has heard of. Returns the
  // cluster record that has to become durable before any directive is given.
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

// Returns a sentence that tells whoever calls the coordinator that it was superseded. REQUIRES: it was superseded.
std::string DescribeSuperseded(const ClusterRecord& record);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_VOICE_H_
