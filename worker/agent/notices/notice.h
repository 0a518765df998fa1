// Defines a notice that this machine will be taken away, and the source of such notices.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/text/printable.h"

namespace rekindle::agent {

struct Notice {
  // `id` is the same at each poll while the source shows the notice, and it is unique within the source.
  std::string id;
  // `what` is printable text for people, such as "spot interruption (terminate)".
  std::string what;
  // If `leaves` is false, the notice only hints that the machine may be taken away, and no trainer is moved for it.
  bool leaves = true;
  // `at` is when the machine will be taken away, in Unix seconds. It is unset if the source does not say when.
  std::optional<double> at;
  // `acknowledge` says that the source waits for an acknowledgement, after which the machine may be taken away before
  // `at`.
  bool acknowledge = false;

  bool operator==(const Notice&) const = default;
};

// A source of notices is not thread-safe, and its calls may block. See watcher.h for how long the agent waits for them.
class Source {
 public:
  virtual ~Source() = default;
  // Returns all notices that the source shows at `now` (Unix seconds). After an error, the earlier notices still count.
  virtual absl::StatusOr<std::vector<Notice>> Poll(double now) = 0;
  // Tells the source of a notice that nothing of any job is left on this machine. The machine may then be taken away.
  virtual absl::Status Acknowledge(const Notice&) { return absl::OkStatus(); }
};

using common::Printable;

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_
