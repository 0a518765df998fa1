#include "common/spec/yaml_reader.h"

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/nearest.h"
#include "common/text/problem_list.h"
#include "rekindle/v1/job_spec.pb.h"

namespace rekindle::common {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMaxDepth = 16;
constexpr size_t kMaxItems = 10'000;
constexpr size_t kMaxProblems = 1000;
// The text of a problem shows at most `kMaxShown` bytes of a name or value.
constexpr size_t kMaxShown = 100;

std::vector<std::string> FieldsOf(const Descriptor& descriptor) {
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.field_count(); ++i) names.push_back(descriptor.field(i)->name());
  return names;
}

// Reads a whole number. It accepts 1e3 and 64.0 too, because JSON writers produce them.
bool ToInt32(const YAML::Node& node, int32_t* value) {
  if (YAML::convert<int32_t>::decode(node, *value)) return true;
  double real = 0;
  if (!YAML::convert<double>::decode(node, real) || real != std::floor(real)) return false;
  if (std::abs(real) > std::numeric_limits<int32_t>::max()) return false;
  *value = static_cast<int32_t>(real);
  return true;
}

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

const char* KindOf(const YAML::Node& node) {
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a mapping" : "a single value";
}

}  // namespace

std::string DescribeUnknown(const std::string& name, const Descriptor& descriptor) {
  const std::vector<std::string> known = FieldsOf(descriptor);
  const std::string nearest = Nearest(name, known);
  if (!nearest.empty()) return absl::StrCat("is not a field; did you mean `", nearest, "`?");
  return absl::StrCat("is not a field; known fields here: ", absl::StrJoin(known, ", "));
}

absl::Status SetScalar(const YAML::Node& node, const FieldDescriptor& field, Message* message) {
  if (node.IsNull()) return Wrong("has no value: give it one, or leave the field out");
  if (!node.IsScalar()) return Wrong(absl::StrCat("must be a single value, and is ", KindOf(node)));
  const Reflection& reflection = *message->GetReflection();
  const std::string& text = node.Scalar();
  const std::string shown = "'" + OneLine(text, kMaxShown) + "'";
  const bool quoted = node.Tag() == "!";
  const bool repeated = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      repeated ? reflection.AddString(message, &field, text) : reflection.SetString(message, &field, text);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32: {
      int32_t value = 0;
      const bool may_be_auto = field.options().GetExtension(v1::zero_is_auto);
      if (!(may_be_auto && text == "auto") && (quoted || !ToInt32(node, &value))) {
        return Wrong(absl::StrCat("must be a whole number", may_be_auto ? " or auto" : "", ", not ", shown));
      }
      repeated ? reflection.AddInt32(message, &field, value) : reflection.SetInt32(message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double value = 0;
      if (quoted || !YAML::convert<double>::decode(node, value) || !std::isfinite(value)) {
        return Wrong("must be a number, not " + shown);
      }
      repeated ? reflection.AddDouble(message, &field, value) : reflection.SetDouble(message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool value = false;
      if (quoted || !YAML::convert<bool>::decode(node, value)) return Wrong("must be true or false, not " + shown);
      repeated ? reflection.AddBool(message, &field, value) : reflection.SetBool(message, &field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value = field.enum_type()->FindValueByName(text);
      if (value == nullptr) return Wrong("has no value " + shown);
      repeated ? reflection.AddEnum(message, &field, value) : reflection.SetEnum(message, &field, value);
      return absl::OkStatus();
    }
    default:
      return Wrong("cannot be set in a file");
  }
}

int YamlReader::LineOf(const YAML::Node& node) const { return node.Mark().line >= 0 ? node.Mark().line + 1 : line_; }

void YamlReader::Refuse(const YAML::Node& node, const std::string& path, const std::string& what) {
  if (document_.problems.size() >= kMaxProblems) {
    ++document_.problems_left_out;
    return;
  }
  const std::string name = path.empty() ? "the document" : "`" + OneLine(path) + "`";
  document_.problems.push_back({LineOf(node), path, name + " " + what});
}

bool YamlReader::Counts(const YAML::Node& node) {
  if (values_ == kMaxYamlValues) {
    Refuse(node, "", absl::StrCat("has more than ", kMaxYamlValues, " values; the rest is not read"));
  }
  return values_++ < kMaxYamlValues;
}

void YamlReader::ReadMessage(const YAML::Node& node, const std::string& path, int depth, Message* message) {
  if (depth > kMaxDepth) return Refuse(node, path, "is nested too deeply");
  if (node.IsNull()) return;
  if (!node.IsMap()) {
    return Refuse(node, path, absl::StrCat("must be a mapping of fields, as `name: value`, and is ", KindOf(node)));
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const YAML::Node& key = entry.first;
    line_ = LineOf(key);
    if (key.IsScalar() && !seen.insert(key.Scalar()).second) {
      Refuse(key, path.empty() ? key.Scalar() : path + "." + key.Scalar(), "is given twice");
    } else {
      ReadEntry(key, entry.second, path, depth, message);
    }
  }
}

void YamlReader::ReadEntry(const YAML::Node& key, const YAML::Node& value, const std::string& path, int depth,
                           Message* message) {
  const Descriptor& descriptor = *message->GetDescriptor();
  if (!key.IsScalar() || key.Scalar().empty()) {
    const std::string has = key.IsSequence() || key.IsMap()
                                ? absl::StrCat(KindOf(key), " where the name of a field is due")
                                : "a `:` without the name of a field before it";
    return Refuse(key, path,
                  absl::StrCat("has ", has, ": write `name: value`; known fields here: ",
                               absl::StrJoin(FieldsOf(descriptor), ", ")));
  }
  const std::string name = key.Scalar();
  const std::string field_path = path.empty() ? name : path + "." + name;
  const FieldDescriptor* field = descriptor.FindFieldByName(name);
  if (field == nullptr) return Refuse(key, field_path, DescribeUnknown(name, descriptor));
  if (!Counts(key)) return;
  document_.lines.emplace(field_path, LineOf(key));
  ReadField(value, field_path, *field, depth, message);
}

void YamlReader::ReadField(const YAML::Node& node, const std::string& path, const FieldDescriptor& field, int depth,
                           Message* message) {
  // A user may write a single value where a list is expected, for a list of that one value.
  if (!field.is_repeated() || !node.IsSequence()) return ReadValue(node, path, field, depth, message);
  if (node.size() > kMaxItems) return Refuse(node, path, absl::StrCat("has more than ", kMaxItems, " items"));
  for (size_t i = 0; i < node.size(); ++i) {
    if (!Counts(node[i])) return;
    const std::string item = absl::StrCat(path, "[", i, "]");
    document_.lines.emplace(item, LineOf(node[i]));
    ReadValue(node[i], item, field, depth, message);
  }
}

void YamlReader::ReadValue(const YAML::Node& node, const std::string& path, const FieldDescriptor& field, int depth,
                           Message* message) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    const absl::Status set = SetScalar(node, field, message);
    if (!set.ok()) Refuse(node, path, std::string(set.message()));
    return;
  }
  const Reflection& reflection = *message->GetReflection();
  Message* child =
      field.is_repeated() ? reflection.AddMessage(message, &field) : reflection.MutableMessage(message, &field);
  ReadMessage(node, path, depth + 1, child);
}

}  // namespace rekindle::common
