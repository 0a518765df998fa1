// YAML (or JSON, which is YAML) to protobuf messages with the proto's field names.
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
inline constexpr int kMaxYamlDocuments = 100;   // One text has at most so many; empty ones count.
inline constexpr int kMaxYamlValues = 100'000;  // One document has at most so many, counted at each use of an anchor.

// What is wrong in a document.
struct YamlProblem {
  int line = 1;
  std::string field;  // Its path, as "spec.training.stepps" or "spec.data.text[1]"; empty: the whole document.
  std::string what;   // A sentence with the field's name, and what would be right.
};

struct YamlDocument {
  int line = 1;                      // At which it begins.
  std::map<std::string, int> lines;  // The line of each field that it gives, by its path.
  std::vector<YamlProblem> problems;
  size_t problems_left_out = 0;  // There are more of them than one document tells.
};

// Reads each document (`---`) of `text` into the message that `add` makes for it; those without content are passed
// over. What is wrong in a document is among its problems, and the rest of it is read. INVALID_ARGUMENT names `source`,
// which is what errors call the text, and the line: text that is no UTF-8 or no YAML, is empty, or over a limit.
absl::StatusOr<std::vector<YamlDocument>> ParseYamlDocuments(const std::string& text, const std::string& source,
                                                             const std::function<google::protobuf::Message*()>& add);

// The one document of `text`. INVALID_ARGUMENT as above, and with all problems, one a line (common/problem_list.h):
// "job.yaml:2: `spec.trainin` is not a field; did you mean `training`?".
absl::Status ParseYaml(const std::string& text, const std::string& source, google::protobuf::Message* message);

// Sets the field of that path ("spec.training.steps") to a YAML scalar; a list becomes that one value. INVALID_ARGUMENT
// is a sentence as in YamlProblem, and leaves the field as it was.
absl::Status SetYamlField(const std::string& path, const std::string& value, google::protobuf::Message* message);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_H_
