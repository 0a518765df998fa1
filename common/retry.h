// When to try again, and how long to wait before.
#ifndef REKINDLE_COMMON_RETRY_H_
#define REKINDLE_COMMON_RETRY_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/clock.h"

namespace rekindle::common {

struct RetryPolicy {
  double first_seconds = 0.1;
  double longest_seconds = 5;
};

// Before the retry-th retry (1, 2, ...): doubling up to the longest, of which a random part between half and all, so
// that clients that failed together do not return together ("equal jitter", Brooker, 2015). `random` is in [0, 1).
double BackoffSeconds(const RetryPolicy& policy, int retry, double random);

// Whether another attempt may succeed. Not for NOT_FOUND, PERMISSION_DENIED and other verdicts on the request, nor for
// what Permanent marked.
bool IsTransient(const absl::Status& status);
absl::Status Permanent(absl::Status status);

// Attempts until one succeeds, fails for good, or `seconds` are over; each is told how many are left. The last error
// (but no DEADLINE_EXCEEDED where another came before) comes with how often and how long it was tried. An attempt may
// move the deadline by returning seconds in `extend`.
struct Attempt {
  double seconds_left = 0;
  double extend = 0;  // Out: time that was spent waiting on purpose.
};
absl::Status Retry(const RetryPolicy& policy, double seconds, Clock& clock,
                   const std::function<absl::Status(Attempt&)>& attempt);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RETRY_H_
