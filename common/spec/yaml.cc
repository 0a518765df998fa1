#include "common/spec/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/spec/yaml_reader.h"
#include "common/text/problem_list.h"
#include "common/text/utf8.h"

namespace rekindle::common {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status NotYaml(const std::string& source, const YAML::Exception& error) {
  return absl::InvalidArgumentError(
      absl::StrCat(source, ":", std::max(0, error.mark.line) + 1, ": not valid YAML: ", error.msg));
}

// Counts the lines that begin or end a document, wherever they are. A text has at most one document more than that.
int CountMarkers(const std::string& text) {
  int markers = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    markers += absl::StartsWith(line, "---") || absl::StartsWith(line, "...") ? 1 : 0;
  }
  return markers;
}

// Returns whether the text is UTF-16 or UTF-32, which have a zero byte or a byte order mark among the first four bytes.
// yaml-cpp converts them to UTF-8.
bool IsWide(absl::string_view text) {
  const absl::string_view begin = text.substr(0, 4);
  return begin.find('\0') != absl::string_view::npos || absl::StartsWith(begin, "\xFE\xFF") ||
         absl::StartsWith(begin, "\xFF\xFE");
}

// Returns an error unless the text is UTF-8, because no protobuf message could be sent with other text.
absl::Status CheckUtf8(const std::string& text, const std::string& source) {
  const std::optional<size_t> at = IsWide(text) ? std::nullopt : FindInvalidUtf8(text);
  if (!at) return absl::OkStatus();
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*at), '\n');
  // If no newline comes before the invalid byte, rfind returns npos, and npos + 1 is 0, the beginning of the text.
  const size_t line_begin = *at == 0 ? 0 : text.rfind('\n', *at - 1) + 1;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s:%d: byte %d of the line, 0x%02X, is not UTF-8: save it as UTF-8", source, lines + 1,
                      *at - line_begin + 1, static_cast<unsigned char>(text[*at])));
}

absl::StatusOr<std::vector<YAML::Node>> LoadDocuments(const std::string& text, const std::string& source) {
  if (text.size() > kMaxYamlBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, " has ", text.size(), " bytes; at most ", kMaxYamlBytes, " are read"));
  }
  // The documents of a text are counted before they are read, because an empty document takes a hundred times the
  // memory of its text.
  if (CountMarkers(text) > kMaxYamlDocuments) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, " has more than ", kMaxYamlDocuments, " documents (`---`): cut it into several"));
  }
  if (absl::Status utf8 = CheckUtf8(text, source); !utf8.ok()) return utf8;
  std::vector<YAML::Node> nodes;
  try {
    nodes = YAML::LoadAll(text);
  } catch (const YAML::Exception& error) {
    return NotYaml(source, error);
  }
  std::erase_if(nodes, [](const YAML::Node& node) { return !node.IsDefined() || node.IsNull(); });
  if (nodes.empty()) return absl::InvalidArgumentError(absl::StrCat(source, " is empty"));
  return nodes;
}

// Follows the names of `path` and returns the field. INVALID_ARGUMENT is that of SetYamlField.
absl::StatusOr<const FieldDescriptor*> FindScalar(const std::vector<std::string>& names, const Descriptor* descriptor) {
  std::string here;
  const FieldDescriptor* field = nullptr;
  const auto wrong = [&here](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("`", OneLine(here), "` ", what));
  };
  for (const std::string& name : names) {
    if (field != nullptr && field->is_repeated()) return wrong("is a list: give it in the file");
    if (field != nullptr && descriptor == nullptr) return wrong("is a single value, without fields of its own");
    absl::StrAppend(&here, here.empty() ? "" : ".", name);
    field = descriptor->FindFieldByName(name);
    if (field == nullptr) return wrong(DescribeUnknown(name, *descriptor));
    descriptor = field->message_type();
  }
  if (descriptor == nullptr) return field;
  if (field->is_repeated()) return wrong("is a list of sections: give it in the file");
  return wrong(absl::StrCat("is a section: name a field of it, as ", here, ".", descriptor->field(0)->name()));
}

}  // namespace

absl::StatusOr<std::vector<YamlDocument>> ParseYamlDocuments(const std::string& text, const std::string& source,
                                                             const std::function<Message*()>& add) {
  const absl::StatusOr<std::vector<YAML::Node>> nodes = LoadDocuments(text, source);
  if (!nodes.ok()) return nodes.status();
  std::vector<YamlDocument> documents;
  for (const YAML::Node& node : *nodes) {
    YamlDocument& document = documents.emplace_back();
    document.line = std::max(0, node.Mark().line) + 1;
    try {
      YamlReader(&document).Read(node, add());
    } catch (const YAML::Exception& error) {
      return NotYaml(source, error);
    }
  }
  return documents;
}

absl::Status ParseYaml(const std::string& text, const std::string& source, Message* message) {
  // Only the first document is read into `message`. Others are read into `others`, so that they can be counted, and
  // dropped.
  const std::unique_ptr<Message> others(message->New());
  Message* next = message;
  const auto documents = ParseYamlDocuments(text, source, [&] { return std::exchange(next, others.get()); });
  if (!documents.ok()) return documents.status();
  if (documents->size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, ":", (*documents)[1].line, ": a second document begins here, and one alone is read: remove it"));
  }
  std::vector<YamlProblem> problems = documents->front().problems;
  std::stable_sort(problems.begin(), problems.end(),
                   [](const YamlProblem& a, const YamlProblem& b) { return a.line < b.line; });
  std::vector<std::string> lines;
  for (const YamlProblem& problem : problems) {
    lines.push_back(absl::StrCat(source, ":", problem.line, ": ", problem.what));
  }
  if (lines.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(ListProblems(lines, documents->front().problems_left_out));
}

absl::Status SetYamlField(const std::string& path, const std::string& value, Message* message) {
  const std::vector<std::string> names = absl::StrSplit(path, '.');
  const auto field = FindScalar(names, message->GetDescriptor());
  if (!field.ok()) return field.status();
  const auto wrong = [&path](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat("`", OneLine(path), "` ", what));
  };
  if (FindInvalidUtf8(value)) return wrong("must be UTF-8");
  YAML::Node node;
  try {
    node = YAML::Load(value);
  } catch (const YAML::Exception& error) {
    return wrong("must be a YAML value: " + error.msg);
  }
  // The value is first set on a new message, because a wrong value must change nothing of the caller's message.
  const auto* type = google::protobuf::MessageFactory::generated_factory()->GetPrototype((*field)->containing_type());
  const std::unique_ptr<Message> trial(type->New());
  if (absl::Status set = SetScalar(node, **field, trial.get()); !set.ok()) return wrong(std::string(set.message()));
  Message* parent = message;
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    parent = parent->GetReflection()->MutableMessage(parent, parent->GetDescriptor()->FindFieldByName(names[i]));
  }
  parent->GetReflection()->ClearField(parent, *field);
  return SetScalar(node, **field, parent);
}

}  // namespace rekindle::common
