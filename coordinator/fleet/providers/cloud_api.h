// What the adapters of clouds have in common: one request to an HTTP API, and what its answer means.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CLOUD_API_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CLOUD_API_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/http.h"
#include "common/strict_json.h"

namespace rekindle::fleet {

inline constexpr double kApiSeconds = 10;       // For a request.
inline constexpr size_t kMaxAnswer = 16 << 20;  // Bytes.
inline constexpr int kMaxPages = 200;           // Of a listing.
inline constexpr common::JsonLimits kApiJson{.depth = 32, .values = 2'000'000};

// A variable of the environment; empty where it is not set. Tests have their own.
using Variables = std::function<std::string(const std::string&)>;
Variables ProcessVariables();

// The status of an answer that is no success, with `message` (made printable and short): 401 UNAUTHENTICATED, 403
// PERMISSION_DENIED, 404 NOT_FOUND, 409 ABORTED, 429 throttled, 5xx UNAVAILABLE or, with Retry-After, throttled; other
// ones INVALID_ARGUMENT.
absl::Status ErrorOf(const std::string& what, const common::HttpAnswer& answer, const std::string& message);

// Retry-After in seconds; a date counts from `now` (Unix seconds). 0: there is none.
double RetryAfterOf(const common::HttpAnswer& answer, double now);

// The document of a 2xx answer; else ErrorOf with the message that Google, Azure and Kubernetes put into their JSON.
absl::StatusOr<nlohmann::json> JsonAnswer(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer);

// RESOURCE_EXHAUSTED with the same message where an error holds one of the words by which a provider says so.
absl::Status RefineShortage(const absl::Status& status, const std::vector<std::string>& words);

// A member that may be missing, or of another type than it should be: null then.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

// Unix seconds of a time as of RFC 3339; 0: it is none.
double UnixTime(const std::string& text);

// The last part of a path or URL.
std::string LastPart(const std::string& path);
// As a part of a query or form: all but letters, digits and -_.~ becomes %XX.
std::string Escaped(const std::string& text);

// Whether more is wanted of a call that had `seconds` from `begun` (common::SteadySeconds) on. DEADLINE_EXCEEDED.
absl::Status CheckTime(double begun, double seconds);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CLOUD_API_H_
