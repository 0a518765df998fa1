// Implements ControlPlane over gRPC. There is one call at a time, so directives arrive in order. A call carries the
// newest report and waits at the coordinator for a newer directive. An urgent report cancels the waiting call and is
// sent at once. While the coordinator is away, the session keeps trying without end, with pauses of at most 0.2 s.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_COORDINATOR_SESSION_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_COORDINATOR_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/sessions/trainer_identity.h"

namespace rekindle::train {

// Connects to the coordinator at `endpoint` (host:port), which need not be there yet. The destructor of the session
// cancels the call and joins the thread. Returns INVALID_ARGUMENT for a bad address or unusable security files.
absl::StatusOr<std::unique_ptr<ControlPlane>> ConnectCoordinator(const std::string& endpoint, TrainerIdentity identity);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_COORDINATOR_SESSION_H_
