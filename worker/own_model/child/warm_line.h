// The trainer's line to the warm process of its job, which has the imports of the task and forks model processes.
// python/rekindle/warm.py says what is sent. The warm process runs code of users, so nothing that it sends is trusted.
#ifndef REKINDLE_WORKER_OWN_MODEL_CHILD_WARM_LINE_H_
#define REKINDLE_WORKER_OWN_MODEL_CHILD_WARM_LINE_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "common/process/process.h"

namespace rekindle::own_model {

// WarmLine is thread-compatible. Processes that were forked over it end with the connection, which lasts as long as
// this object or until the warm process ends.
class WarmLine {
 public:
  // `path` is where the warm process listens. If `uid` is given, it is the user id of all that it forks.
  WarmLine(std::string path, std::optional<uid_t> uid) : path_(std::move(path)), uid_(uid) {}

  // Has the warm process fork a model process with the socket `model`, whose output goes to `log`, and whose faults go
  // to the file `faults`. Waits for the imports. Returns CANCELLED soon after `go_on` returns false, and UNAVAILABLE,
  // with the reason, if the warm process forks nothing. A model process is then started cold.
  absl::StatusOr<common::Process> Fork(int model, int log, const std::string& faults, double limit_seconds,
                                       const std::function<bool()>& go_on);

  // Kills a process that was forked, with all that it has started.
  void Kill(const common::Process& process);
  // Returns how a process that was forked has ended. Waits for it for a moment. Returns nothing if it is not known.
  std::optional<common::ExitStatus> EndOf(const common::Process& process);

 private:
  absl::Status Connect();
  // Returns the next packet that is no notice of an end. Returns UNAVAILABLE and closes the connection if it is at its
  // end, or if nothing came in time.
  absl::StatusOr<std::string> Receive(double until, const std::function<bool()>& go_on);
  absl::Status AwaitImports(double until, const std::function<bool()>& go_on);
  absl::Status Send(const std::string& packet, const int* descriptors, size_t count);
  // Closes the connection and returns UNAVAILABLE.
  absl::Status Lose(const std::string& why);
  // Makes sure that the process is one that the warm process may have forked.
  absl::StatusOr<common::Process> Verified(int64_t pid);

  const std::string path_;
  const std::optional<uid_t> uid_;
  common::UniqueFd connection_;
  bool has_imports_ = false;
  // `ends_` says how processes have ended that were forked over this connection.
  std::map<pid_t, common::ExitStatus> ends_;
};

}  // namespace rekindle::own_model

#endif  // REKINDLE_WORKER_OWN_MODEL_CHILD_WARM_LINE_H_
