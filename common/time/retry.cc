#include "common/time/retry.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"

namespace rekindle::common {
namespace {

constexpr char kPermanent[] = "rekindle/permanent";

double Random() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

}  // namespace

double BackoffSeconds(const RetryPolicy& policy, int retry, double random) {
  const double whole = std::min(policy.longest_seconds, policy.first_seconds * std::exp2(std::clamp(retry, 1, 60) - 1));
  return whole * (0.5 + 0.5 * random);
}

bool IsTransient(const absl::Status& status) {
  if (status.GetPayload(kPermanent).has_value()) return false;
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kAborted:
      return true;
    default:
      return false;
  }
}

absl::Status Permanent(absl::Status status) {
  status.SetPayload(kPermanent, absl::Cord("1"));
  return status;
}

absl::Status Retry(const RetryPolicy& policy, double seconds, const Clock& clock,
                   const std::function<absl::Status(Attempt&)>& attempt) {
  const double start = clock.now();
  double deadline = start + seconds;
  // `telling` is the last error that is more than DEADLINE_EXCEEDED. It is returned instead of the DEADLINE_EXCEEDED of
  // the last attempt, which often has too little time.
  absl::Status telling;
  for (int tries = 1;; ++tries) {
    Attempt now{.seconds_left = deadline - clock.now()};
    const absl::Status status = attempt(now);
    deadline += now.extend;
    if (status.ok() || !IsTransient(status)) return status;
    if (telling.ok() || !absl::IsDeadlineExceeded(status)) telling = status;
    const double pause = BackoffSeconds(policy, tries, Random());
    if (clock.now() + pause >= deadline) {
      return absl::Status(telling.code(), absl::StrFormat("%s (gave up after %d attempts in %.1f s)",
                                                          std::string(telling.message()), tries, clock.now() - start));
    }
    clock.sleep(pause);
  }
}

}  // namespace rekindle::common
