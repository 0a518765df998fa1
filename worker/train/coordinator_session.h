// ControlPlane over gRPC: one call at a time, so directives arrive in order. A call carries the newest report and
// waits at the coordinator for a newer directive; an urgent report cancels the wait and goes out at once.
// While the coordinator is away it tries again for ever, at most 0.2 s apart.
#ifndef REKINDLE_WORKER_TRAIN_COORDINATOR_SESSION_H_
#define REKINDLE_WORKER_TRAIN_COORDINATOR_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/cluster_identity.h"
#include "worker/train/control_plane.h"

namespace rekindle::train {

struct TrainerIdentity {
  std::string job_uid;
  std::string trainer;
  std::string node;
  std::string job_secret;
  std::string address;  // Of its data-plane listener.
  std::string host;
  common::ClusterIdentity obeys;  // The coordinator that wants this trainer.
};

// `endpoint`: host:port of the coordinator, which need not be there yet. Destruction cancels the call and joins the
// thread. Error: INVALID_ARGUMENT for a bad address or unfit security files.
absl::StatusOr<std::unique_ptr<ControlPlane>> ConnectCoordinator(const std::string& endpoint, TrainerIdentity identity);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_COORDINATOR_SESSION_H_
