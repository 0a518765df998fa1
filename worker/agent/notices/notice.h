// What says that this machine will be taken.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/printable.h"

namespace rekindle::agent {

struct Notice {
  std::string id;            // The same at each poll while the notice stands; unique within its source.
  std::string what;          // For people, printable: "spot interruption (terminate)".
  bool leaves = true;        // False: a hint that the machine may be taken; nothing moves for it.
  std::optional<double> at;  // Unix seconds when it will be taken; absent: the source does not say.
  // The source waits to be told that the machine may be taken before `at`.
  bool acknowledge = false;

  bool operator==(const Notice&) const = default;
};

// Not thread-safe. May block: see watcher.h for how long that is waited for.
class Source {
 public:
  virtual ~Source() = default;
  // All that stands at `now` (Unix seconds). An error: could not be heard, so what stood still stands.
  virtual absl::StatusOr<std::vector<Notice>> Poll(double now) = 0;
  // Nothing of any job is left here: the machine may be taken for that notice.
  virtual absl::Status Acknowledge(const Notice&) { return absl::OkStatus(); }
};

using common::Printable;

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_NOTICE_H_
