// Parses JSON from files and answers that may be damaged or hostile.
#ifndef REKINDLE_COMMON_TEXT_STRICT_JSON_H_
#define REKINDLE_COMMON_TEXT_STRICT_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct JsonLimits {
  // `depth` limits nested objects and arrays.
  int depth = 8;
  // `values` limits the number of all values, so that memory stays within a small multiple of the text.
  size_t values = 200000;
};

// Returns INVALID_ARGUMENT for text that is not one JSON document, repeats a key in one object, or exceeds a limit. It
// throws nothing and does not recurse.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text, const JsonLimits& limits = {});

// Parses an object or array, which is what services send. Any other value is an error.
absl::StatusOr<nlohmann::json> ParseDocument(std::string_view text, const JsonLimits& limits = {8, 2000});

// Returns the string `key` of an object. Returns an error if the key is missing or its value is not a string.
absl::StatusOr<std::string> StringIn(const nlohmann::json& object, const char* key);
// Returns the string `key` of an object, or an empty text if it is missing.
std::string StringOr(const nlohmann::json& object, const char* key);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEXT_STRICT_JSON_H_
