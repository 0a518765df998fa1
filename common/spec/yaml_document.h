// Holds what the reading of a YAML document tells beside the message: where each field is, and what is wrong.
#ifndef REKINDLE_COMMON_SPEC_YAML_DOCUMENT_H_
#define REKINDLE_COMMON_SPEC_YAML_DOCUMENT_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace rekindle::common {

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

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_DOCUMENT_H_
