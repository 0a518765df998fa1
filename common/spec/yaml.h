// YAML (or JSON, which is YAML) to a protobuf message with the proto's field names.
#ifndef REKINDLE_COMMON_SPEC_YAML_H_
#define REKINDLE_COMMON_SPEC_YAML_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"

namespace rekindle::common {

inline constexpr size_t kMaxYamlBytes = 1 << 20;

// Fills `message` from `text`. INVALID_ARGUMENT names file, line and field, and what would be right: an unknown field
// (with the nearest known name), a value of a wrong type, a field given twice, text that is no YAML or too large.
// `source` is what errors call the text: a path.
absl::Status ParseYaml(const std::string& text, const std::string& source, google::protobuf::Message* message);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_H_
