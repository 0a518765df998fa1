// Reads YAML (or JSON, which is YAML) into protobuf messages by the proto's field names.
#ifndef REKINDLE_COMMON_SPEC_YAML_H_
#define REKINDLE_COMMON_SPEC_YAML_H_

#include <google/protobuf/message.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/spec/yaml_document.h"

namespace rekindle::common {

inline constexpr size_t kMaxYamlBytes = 1 << 20;
// One text has at most `kMaxYamlDocuments` documents, including empty ones.
inline constexpr int kMaxYamlDocuments = 100;

// Reads each document (`---`) of `text` into the message that `add` creates for it. Documents without content are
// skipped. What is wrong in a document goes into its problems, and the rest of it is still read. INVALID_ARGUMENT names
// `source`, which is the name of the text in errors, and the line. It is returned for text that is not UTF-8, not YAML,
// empty, or over a limit.
absl::StatusOr<std::vector<YamlDocument>> ParseYamlDocuments(const std::string& text, const std::string& source,
                                                             const std::function<google::protobuf::Message*()>& add);

// Reads the only document of `text`. INVALID_ARGUMENT is that of ParseYamlDocuments, and also lists all problems, one
// per line (common/text/problem_list.h): "job.yaml:2: `spec.trainin` is not a field; did you mean `training`?".
absl::Status ParseYaml(const std::string& text, const std::string& source, google::protobuf::Message* message);

// Sets the field at `path` (such as "spec.training.steps") to a YAML scalar. A list gets `value` as its only item.
// After an error the field is as it was. INVALID_ARGUMENT has a sentence as in YamlProblem.
absl::Status SetYamlField(const std::string& path, const std::string& value, google::protobuf::Message* message);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_H_
