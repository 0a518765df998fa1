// Starts the process of a job that has its imports and forks model processes for the trainers of this node
// (python/rekindle/warm.py), and ends it. It outlives the trainers, and the agent for as long as a trainer uses it.
#ifndef REKINDLE_WORKER_AGENT_USER_CODE_WARM_PROCESS_H_
#define REKINDLE_WORKER_AGENT_USER_CODE_WARM_PROCESS_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "worker/user_code/confinement.h"

namespace rekindle::agent {

struct WarmOptions {
  std::string interpreter, task, folder;
  // `seed` is the job's. What the imports of the task draw follows from it.
  uint64_t seed = 0;
  // The process listens at `socket`.
  std::string socket;
  // `environment` is the whole environment of the process.
  std::vector<std::string> environment;
  // Without `confinement` the process runs as this process's user.
  std::shared_ptr<const user_code::Confinement> confinement;
};

// It is movable and thread-compatible. The process goes on when this object is gone.
class WarmProcess {
 public:
  // Starts the process. Trainers can connect at once, and wait for the imports then.
  static absl::StatusOr<WarmProcess> Start(const WarmOptions& options);
  // Takes over a process that an earlier agent has started. Returns NOT_FOUND if it is gone.
  static absl::StatusOr<WarmProcess> Adopt(const common::ProcessIdentity& identity);

  const common::ProcessIdentity& identity() const { return process_.identity(); }
  // Returns a descriptor that becomes readable when the process has ended.
  int fd() const { return process_.fd(); }
  bool HasEnded() const { return process_.Exited(); }
  // Returns how a process that has ended did so, as far as this process may know.
  std::string EndText() const;

  // Begins to end the process and all that it has forked, or goes on with it. Returns when to call it again, or nothing
  // if the process has ended.
  std::optional<double> End(double now);

 private:
  explicit WarmProcess(common::Process process) : process_(std::move(process)) {}

  common::Process process_;
  // `killed_at_` is when the process will be killed, once it was asked to end.
  std::optional<double> killed_at_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_USER_CODE_WARM_PROCESS_H_
