#include "coordinator/fleet/providers/contract/provider.h"

#include <algorithm>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rekindle::fleet {
namespace {

constexpr char kRetryAfter[] = "rekindle/retry-after";
// A pause that a provider asks for is cut to `kLongest` seconds.
constexpr double kLongest = 3600;

}  // namespace

absl::StatusOr<std::vector<std::string>> Provider::Ended(const std::string&, const std::vector<std::string>&, double) {
  return std::vector<std::string>();
}

absl::Status Throttled(const std::string& message, double retry_after) {
  absl::Status status = absl::UnavailableError(message);
  status.SetPayload(kRetryAfter, absl::Cord(absl::StrCat(std::clamp(retry_after, 0.0, kLongest))));
  return status;
}

std::optional<double> RetryAfter(const absl::Status& status) {
  const auto payload = status.GetPayload(kRetryAfter);
  double seconds = 0;
  if (!payload || !absl::SimpleAtod(std::string(*payload), &seconds)) return std::nullopt;
  return seconds;
}

}  // namespace rekindle::fleet
