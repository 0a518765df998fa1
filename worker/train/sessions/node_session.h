// Connects a trainer to the agent of its node. The trainer reports itself and its metrics every second, so that a
// restarted agent adopts it. Losing the agent never stops training.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_NODE_SESSION_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_NODE_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/train/step/trainer_metrics.h"

namespace rekindle::train {

class NodeSession {
 public:
  virtual ~NodeSession() = default;
};

struct NodeSessionOptions {
  // `socket` is the path of the agent's socket, <node dir>/agent.sock.
  std::string socket;
  std::string trainer;
  std::string job_uid;
  std::string job_name;
  std::string job_secret;
};

// Starts the session. `on_stop` is called on a thread of the session when the agent says that this process is not
// wanted. `metrics` must outlive the session. Returns INVALID_ARGUMENT for an unusable address.
absl::StatusOr<std::unique_ptr<NodeSession>> AttachToNode(NodeSessionOptions options, const MetricsBoard& metrics,
                                                          std::function<void(const std::string& reason)> on_stop);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_NODE_SESSION_H_
