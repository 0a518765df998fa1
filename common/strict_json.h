// JSON from files and answers that may be damaged or hostile.
#ifndef REKINDLE_COMMON_STRICT_JSON_H_
#define REKINDLE_COMMON_STRICT_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
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

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_STRICT_JSON_H_
