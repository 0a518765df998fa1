// The trainer's line to the agent of its node: makes itself known each second and hands over its metrics, so that an
// agent that was restarted adopts it. Losing the agent never stops training.
#ifndef REKINDLE_WORKER_TRAIN_NODE_SESSION_H_
#define REKINDLE_WORKER_TRAIN_NODE_SESSION_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker/train/trainer_metrics.h"

namespace rekindle::train {

class NodeSession {
 public:
  virtual ~NodeSession() = default;
};

struct NodeSessionOptions {
  std::string socket;  // <node dir>/agent.sock
  std::string trainer;
  std::string job_uid;
  std::string job_name;
  std::string job_secret;
};

// `on_stop` is called, from a thread of the session, when the agent says that this process is not wanted.
// Error: INVALID_ARGUMENT for an unfit address. `metrics` outlives the session.
absl::StatusOr<std::unique_ptr<NodeSession>> AttachToNode(NodeSessionOptions options, const MetricsBoard& metrics,
                                                          std::function<void(const std::string& reason)> on_stop);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_NODE_SESSION_H_
