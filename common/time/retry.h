// Decides whether to try again, and how long to wait before.
#ifndef REKINDLE_COMMON_TIME_RETRY_H_
#define REKINDLE_COMMON_TIME_RETRY_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/time/clock.h"

namespace rekindle::common {

struct RetryPolicy {
  double first_seconds = 0.1;
  double longest_seconds = 5;
};

// Returns the pause before retry number `retry` (1, 2, ...). The pause doubles up to the longest one, and a random part
// between half and all of it is used, so that clients that failed together do not return together ("equal jitter",
// Brooker, 2015). `random` is in [0, 1).
double BackoffSeconds(const RetryPolicy& policy, int retry, double random);

// Returns whether another attempt may succeed. It is false for NOT_FOUND, PERMISSION_DENIED and other verdicts on the
// request, and for errors that Permanent has marked.
bool IsTransient(const absl::Status& status);
absl::Status Permanent(absl::Status status);

// Makes attempts until one succeeds, fails for good, or `seconds` are over. Each attempt gets the number of seconds
// that are left. The last error is returned with the number of attempts and their time, but a DEADLINE_EXCEEDED does
// not replace an earlier error of another kind. An attempt may move the deadline by setting `extend`.
struct Attempt {
  double seconds_left = 0;
  // The attempt sets `extend` to the seconds that it has spent waiting on purpose.
  double extend = 0;
};
absl::Status Retry(const RetryPolicy& policy, double seconds, const Clock& clock,
                   const std::function<absl::Status(Attempt&)>& attempt);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TIME_RETRY_H_
