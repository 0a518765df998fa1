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

// A request to a cloud's API may take `kApiSeconds` seconds.
inline constexpr double kApiSeconds = 10;
// An answer of a cloud's API may have `kMaxAnswer` bytes.
inline constexpr size_t kMaxAnswer = 16 << 20;
// A listing of a cloud's API may have `kMaxPages` pages.
inline constexpr int kMaxPages = 200;
inline constexpr common::JsonLimits kApiJson{.depth = 32, .values = 2'000'000};

// Variables returns a variable of the environment by its name, or an empty text where it is not set. Tests pass
// variables of their own.
using Variables = std::function<std::string(const std::string&)>;
Variables ProcessVariables();

// Returns the error for an HTTP answer that is no success, with `message` made printable and short. 401 becomes
// UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 NOT_FOUND and 409 ABORTED. 429 becomes Throttled (provider.h). 5xx
// becomes UNAVAILABLE, or Throttled where the answer has Retry-After. Everything else becomes INVALID_ARGUMENT.
absl::Status ErrorOf(const std::string& what, const common::HttpAnswer& answer, const std::string& message);

// Returns the header Retry-After of an answer in seconds, or 0 where there is none. A date in the header counts from
// `now` (Unix seconds).
double RetryAfterOf(const common::HttpAnswer& answer, double now);

// Returns the JSON document of a 2xx answer. Any other answer becomes the error of ErrorOf, with the message that
// Google, Azure and Kubernetes put into their JSON.
absl::StatusOr<nlohmann::json> JsonAnswer(const std::string& what, const absl::StatusOr<common::HttpAnswer>& answer);

// Turns an error whose message holds one of `words` into RESOURCE_EXHAUSTED with the same message. By such words a
// provider reports a shortage.
absl::Status RefineShortage(const absl::Status& status, const std::vector<std::string>& words);

// Returns the member `key` of a JSON object, or a JSON null where it is missing.
const nlohmann::json& Member(const nlohmann::json& object, const char* key);

// Returns the Unix seconds of a time in RFC 3339, or 0 where the text is no such time.
double UnixTime(const std::string& text);

// Returns the last part of a path or URL.
std::string LastPart(const std::string& path);
// Escapes a text for a query or a form. All characters except letters, digits and -_.~ become %XX.
std::string Escaped(const std::string& text);

// Checks whether a call that began at `begun` (common::SteadySeconds) and may take `seconds` still has time. Returns
// DEADLINE_EXCEEDED where it has none.
absl::Status CheckTime(double begun, double seconds);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_HTTP_CLOUD_API_H_
