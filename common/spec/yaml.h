// Reads YAML (or JSON, which is YAML) into protobuf messages by the proto's field names.
#ifndef REKINDLE_COMMON_SPEC_YAML_H_
#define REKINDLE_COMMON_SPEC_YAML_H_

#include <google/protobuf/message.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

inline constexpr size_t kMaxYamlBytes = 1 << 20;
// One text has at most `kMaxYamlDocuments` documents, including empty ones.
inline constexpr int kMaxYamlDocuments = 100;
// One document has at most `kMaxYamlValues` values. An anchor counts at each use.
inline constexpr int kMaxYamlValues = 100'000;

// Describes what is wrong in a document.
struct YamlProblem {
  int line = 1;
  // `field` is a path like "spec.training.stepps" or "spec.data.text[1]". It is empty for the whole document.
  std::string field;
  // `what` is a sentence with the field's name and what would be right.
  std::string what;
};

struct YamlDocument {
  // `line` is the line at which the document begins.
  int line = 1;
  // `lines` maps the path of each given field to its line.
  std::map<std::string, int> lines;
  std::vector<YamlProblem> problems;
  // `problems_left_out` is the number of problems that are not listed, because their number is limited.
  size_t problems_left_out = 0;
};

// Reads each document (`---`) of `text` into the message that `add` creates for it. Documents without content are
// passed over. What is wrong in a document goes into its problems, and the rest of it is still read. INVALID_ARGUMENT
// names `source`, which is the name of the text in errors, and the line. It is returned for text that is not UTF-8, not
// YAML, empty, or over a limit.
absl::StatusOr<std::vector<YamlDocument>> ParseYamlDocuments(const std::string& text, const std::string& source,
                                                             const std::function<google::protobuf::Message*()>& add);

// Reads the only document of `text`. INVALID_ARGUMENT is that of ParseYamlDocuments, and also lists all problems, one
// per line (common/text/problem_list.h): "job.yaml:2: `spec.trainin` is not a field; did you mean `training`?".
absl::Status ParseYaml(const std::string& text, const std::string& source, google::protobuf::Message* message);

// Sets the field of that path ("spec.training.steps") to a YAML scalar. A list becomes that one value. INVALID_ARGUMENT
// has a sentence as in YamlProblem, and leaves the field as it was.
absl::Status SetYamlField(const std::string& path, const std::string& value, google::protobuf::Message* message);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_H_
