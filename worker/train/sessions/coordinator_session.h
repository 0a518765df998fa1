// Implements ControlPlane over gRPC. There is one call at a time, so directives arrive in order. A call carries the
// newest report and waits at the coordinator for a newer directive. An urgent report cancels the wait and goes out at
// once. While the coordinator is away, the session keeps trying without end, with pauses of at most 0.2 s.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_COORDINATOR_SESSION_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_COORDINATOR_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/agreed/cluster_identity.h"
#include "worker/train/control/control_plane.h"

namespace rekindle::train {

struct TrainerIdentity {
  std::string job_uid;
  std::string trainer;
  std::string node;
  std::string job_secret;
  // `address` is that of the trainer's data-plane listener.
  std::string address;
  std::string host;
  // `obeys` is the coordinator that wants this trainer.
  common::ClusterIdentity obeys;
};

// Connects to the coordinator at `endpoint` (host:port), which need not be there yet. The destructor of the session
// cancels the call and joins the thread. Returns INVALID_ARGUMENT for a bad address or unusable security files.
absl::StatusOr<std::unique_ptr<ControlPlane>> ConnectCoordinator(const std::string& endpoint, TrainerIdentity identity);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_COORDINATOR_SESSION_H_
