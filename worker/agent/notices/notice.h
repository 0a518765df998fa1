// Defines a notice that this machine will be taken, and the source of such notices.
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
  // `id` is the same at each poll while the notice stands, and unique within its source.
  std::string id;
  // `what` is printable text for people, such as "spot interruption (terminate)".
  std::string what;
  // If `leaves` is false, the notice only hints that the machine may be taken, and nothing moves for it.
  bool leaves = true;
  // `at` is in Unix seconds. It is unset if the source does not say when the machine will be taken.
  std::optional<double> at;
  // The source waits for an acknowledgement, after which the machine may be taken before `at`.
  bool acknowledge = false;

  bool operator==(const Notice&) const = default;
};

// A source is not thread-safe, and its calls may block. See watcher.h for how long the agent waits for them.
class Source {
 public:
  virtual ~Source() = default;
  // Returns all notices that stand at `now` (Unix seconds). After an error, the notices that stood before still stand.
  virtual absl::StatusOr<std::vector<Notice>> Poll(double now) = 0;
  // Says that nothing of any job is left here, so the machine may be taken for that notice.
  virtual absl::Status Acknowledge(const Notice&) { return absl::OkStatus(); }
};

using common::Printable;

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_
