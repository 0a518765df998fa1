// Remembers which cluster's coordinator a trainer obeys. All of its threads that hear from a coordinator share one
// ObeyedCluster.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_OBEYED_CLUSTER_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_OBEYED_CLUSTER_H_

#include <string>
#include <utility>

#include "common/agreed/cluster_identity.h"
#include "common/sync/mutex.h"

namespace rekindle::train {

// Guards a common::KnownCluster, which documents the methods. The class is thread-safe.
class ObeyedCluster {
 public:
  explicit ObeyedCluster(common::ClusterIdentity known) : cluster_(std::move(known)) {}

  bool Obeys(const common::ClusterIdentity& told) {
    const common::MutexLock lock(mutex_);
    return cluster_.Obeys(told);
  }
  template <typename Answer>
  std::string WhyNotObeyed(const Answer& answer) {
    const common::MutexLock lock(mutex_);
    return common::WhyNotObeyed(answer, cluster_);
  }
  common::ClusterIdentity known() const {
    const common::MutexLock lock(mutex_);
    return cluster_.known();
  }

 private:
  mutable common::Mutex mutex_;
  common::KnownCluster cluster_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_OBEYED_CLUSTER_H_
