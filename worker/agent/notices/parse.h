// What the documents of several sources have in common. Pure.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_
#define REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/strict_json.h"

namespace rekindle::agent {

inline constexpr size_t kMaxNotices = 16;  // Of one source; more are passed over.

// Unix seconds of "2026-11-22T03:29:07Z", "Sun, 22 Nov 2026 03:29:07 GMT" or "22 Nov 2026 03:29:07 GMT", between the
// years 2000 and 2200.
absl::StatusOr<double> ParseTimestamp(std::string_view text);

// A JSON object or array of at most `limits`.
absl::StatusOr<nlohmann::json> ParseDocument(std::string_view text, const common::JsonLimits& limits = {8, 2000});

// The string `key` of an object; an error when it is missing or something else.
absl::StatusOr<std::string> StringIn(const nlohmann::json& object, const char* key);
// The same; empty when it is missing.
std::string StringOr(const nlohmann::json& object, const char* key);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_PARSE_H_
