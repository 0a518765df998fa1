#include "common/spec/yaml.h"

#include <yaml-cpp/yaml.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "common/nearest.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::common {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMaxDepth = 16;
constexpr int kMaxItems = 10'000;

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  absl::Status ReadMessage(const YAML::Node& node, const std::string& path, int depth, Message* message) {
    if (depth > kMaxDepth) return Error(node, path, "is nested too deeply");
    if (node.IsNull()) return absl::OkStatus();
    if (!node.IsMap()) return Error(node, path, "must be a mapping of fields");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string name = entry.first.Scalar();
      const std::string field_path = path.empty() ? name : path + "." + name;
      if (!seen.insert(name).second) return Error(entry.first, field_path, "is given twice");
      const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
      if (field == nullptr) return Unknown(entry.first, field_path, name, *message->GetDescriptor());
      if (absl::Status status = ReadField(entry.second, field_path, *field, depth, message); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Error(const YAML::Node& node, const std::string& path, const std::string& what) const {
    const int line = node.Mark().line + 1;
    return absl::InvalidArgumentError(source_ + ":" + std::to_string(line) + ": " +
                                      (path.empty() ? "the file" : "`" + path + "`") + " " + what);
  }

  absl::Status Unknown(const YAML::Node& node, const std::string& path, const std::string& name,
                       const Descriptor& descriptor) const {
    std::vector<std::string> known;
    for (int i = 0; i < descriptor.field_count(); ++i) known.push_back(descriptor.field(i)->name());
    const std::string nearest = Nearest(name, known);
    std::string hint = nearest.empty() ? "known fields here: " : "did you mean `" + nearest + "`?";
    if (nearest.empty()) {
      for (size_t i = 0; i < known.size(); ++i) hint += (i ? ", " : "") + known[i];
    }
    return Error(node, path, "is not a field; " + hint);
  }

  absl::Status ReadField(const YAML::Node& node, const std::string& path, const FieldDescriptor& field, int depth,
                         Message* message) {
    if (!field.is_repeated()) return ReadValue(node, path, field, depth, message);
    // One value may stand for a list of one.
    if (!node.IsSequence()) return ReadValue(node, path, field, depth, message);
    if (node.size() > kMaxItems) return Error(node, path, "has more than " + std::to_string(kMaxItems) + " items");
    for (size_t i = 0; i < node.size(); ++i) {
      const std::string item = path + "[" + std::to_string(i) + "]";
      if (absl::Status status = ReadValue(node[i], item, field, depth, message); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status ReadValue(const YAML::Node& node, const std::string& path, const FieldDescriptor& field, int depth,
                         Message* message) {
    const Reflection& reflection = *message->GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      Message* child =
          field.is_repeated() ? reflection.AddMessage(message, &field) : reflection.MutableMessage(message, &field);
      return ReadMessage(node, path, depth + 1, child);
    }
    if (!node.IsScalar()) return Error(node, path, "must be a single value");
    return ReadScalar(node, path, field, message);
  }

  absl::Status ReadScalar(const YAML::Node& node, const std::string& path, const FieldDescriptor& field,
                          Message* message) {
    const Reflection& reflection = *message->GetReflection();
    const std::string& text = node.Scalar();
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
          return Error(
              node, path,
              std::string("must be a whole number") + (may_be_auto ? " or auto" : "") + ", not '" + text + "'");
        }
        repeated ? reflection.AddInt32(message, &field, value) : reflection.SetInt32(message, &field, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_DOUBLE: {
        double value = 0;
        if (quoted || !YAML::convert<double>::decode(node, value) || !std::isfinite(value)) {
          return Error(node, path, "must be a number, not '" + text + "'");
        }
        repeated ? reflection.AddDouble(message, &field, value) : reflection.SetDouble(message, &field, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_BOOL: {
        bool value = false;
        if (quoted || !YAML::convert<bool>::decode(node, value)) {
          return Error(node, path, "must be true or false, not '" + text + "'");
        }
        repeated ? reflection.AddBool(message, &field, value) : reflection.SetBool(message, &field, value);
        return absl::OkStatus();
      }
      case FieldDescriptor::CPPTYPE_ENUM: {
        const auto* value = field.enum_type()->FindValueByName(text);
        if (value == nullptr) return Error(node, path, "has no value '" + text + "'");
        repeated ? reflection.AddEnum(message, &field, value) : reflection.SetEnum(message, &field, value);
        return absl::OkStatus();
      }
      default:
        return Error(node, path, "cannot be set in a file");
    }
  }

  // Accepts 1e3 and 64.0 as whole numbers too: JSON writers produce them.
  static bool ToInt32(const YAML::Node& node, int32_t* value) {
    if (YAML::convert<int32_t>::decode(node, *value)) return true;
    double real = 0;
    if (!YAML::convert<double>::decode(node, real) || real != std::floor(real)) return false;
    if (std::abs(real) > std::numeric_limits<int32_t>::max()) return false;
    *value = static_cast<int32_t>(real);
    return true;
  }

  const std::string& source_;
};

}  // namespace

absl::Status ParseYaml(const std::string& text, const std::string& source, Message* message) {
  if (text.size() > kMaxYamlBytes) {
    return absl::InvalidArgumentError(source + " has " + std::to_string(text.size()) + " bytes; at most " +
                                      std::to_string(kMaxYamlBytes) + " are read");
  }
  YAML::Node root;
  try {
    root = YAML::Load(text);
    if (!root.IsDefined() || root.IsNull()) return absl::InvalidArgumentError(source + " is empty");
    return Reader(source).ReadMessage(root, "", 0, message);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(source + ":" + std::to_string(error.mark.line + 1) +
                                      ": not valid YAML: " + error.msg);
  }
}

}  // namespace rekindle::common
