// This file holds what the adapters of clouds have in common: a request to an HTTP API, and the meaning of its answer.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_CLOUD_API_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_CLOUD_API_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "common/text/strict_json.h"

namespace rekindle::fleet {

// A request may take this many seconds.
inline constexpr double kApiSeconds = 10;
inline constexpr size_t kMaxAnswer = 16 << 20;  // Bytes.
// A listing may have this many pages.
inline constexpr int kMaxPages = 200;
inline constexpr common::JsonLimits kApiJson{.depth = 32, .values = 2'000'000};

// Variables returns a variable of the environment, or an empty text where it is not set. Tests use their own.
using Variables = std::function<std::string(const std::string&)>;
Variables ProcessVariables();

// Returns the status of an answer that is no success, with `message` made printable and short. 401 becomes
// UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 NOT_FOUND and 409 ABORTED. 429 is throttled. 5xx becomes UNAVAILABLE, or
// throttled where it has Retry-After. Everything else becomes INVALID_ARGUMENT.
absl::Status ErrorOf(const std::string& what, const common::HttpAnswer& answer, const std::string& message);

// Returns Retry-After in seconds, or 0 where there is none. A date counts from `now` (Unix seconds).
double RetryAfterOf(const common::HttpAnswer& answer, double now);

// Returns the document of a 2xx answer. Other answers become ErrorOf with the message that Google, Azure and Kubernetes
// put into their JSON.
absl::StatusOr<nlohmann::json> JsonAnswer(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer);

// Returns RESOURCE_EXHAUSTED with the same message where an error holds one of the words by which a provider reports a
// shortage.
absl::Status RefineShortage(const absl::Status& status, const std::vector<std::string>& words);

// Returns a member of `object`, or null where it is missing.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

// Returns the Unix seconds of a time in RFC 3339, or 0 where the text is no such time.
double UnixTime(const std::string& text);

// Returns the last part of a path or URL.
std::string LastPart(const std::string& path);
// Returns the text as a part of a query or form. All characters except letters, digits and -_.~ become %XX.
std::string Escaped(const std::string& text);

// Checks whether a call that began at `begun` (common::SteadySeconds) still has time. Returns DEADLINE_EXCEEDED where
// its `seconds` are over.
absl::Status CheckTime(double begun, double seconds);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_CLOUD_API_H_
