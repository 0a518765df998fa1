// JSON from files and answers that may be damaged or hostile.
#ifndef REKINDLE_COMMON_STRICT_JSON_H_
#define REKINDLE_COMMON_STRICT_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct JsonLimits {
  int depth = 8;           // Of nested objects and arrays.
  size_t values = 200000;  // All told, so that memory stays within a small multiple of the text.
};

// INVALID_ARGUMENT for text that is not one JSON document, repeats a key in one object, or exceeds a limit.
// Throws nothing; recursion-free.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text, const JsonLimits& limits = {});

// The same, of an object or array: what services send.
absl::StatusOr<nlohmann::json> ParseDocument(std::string_view text, const JsonLimits& limits = {8, 2000});

// The string `key` of an object; an error when it is missing or something else.
absl::StatusOr<std::string> StringIn(const nlohmann::json& object, const char* key);
// The same; empty when it is missing.
std::string StringOr(const nlohmann::json& object, const char* key);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_STRICT_JSON_H_
