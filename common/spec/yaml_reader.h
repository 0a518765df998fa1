// One YAML document into one message; yaml.h uses it.
#ifndef REKINDLE_COMMON_SPEC_YAML_READER_H_
#define REKINDLE_COMMON_SPEC_YAML_READER_H_

#include <google/protobuf/message.h>
#include <yaml-cpp/yaml.h>

#include <string>

#include "common/spec/yaml.h"

namespace rekindle::common {

// Sets the field, or adds to it where it is a list. INVALID_ARGUMENT changes nothing, and is what may follow the
// field's name: "must be a whole number, not 'many'".
absl::Status SetScalar(const YAML::Node& node, const google::protobuf::FieldDescriptor& field,
                       google::protobuf::Message* message);

// "is not a field; did you mean `training`?", or which there are.
std::string DescribeUnknown(const std::string& name, const google::protobuf::Descriptor& descriptor);

// Thread-compatible. Collects what is wrong and goes on behind it.
class YamlReader {
 public:
  // Not owned; gets lines and problems.
  explicit YamlReader(YamlDocument* document) : document_(*document) {}

  // May throw YAML::Exception.
  void Read(const YAML::Node& node, google::protobuf::Message* message) { ReadMessage(node, "", 0, message); }

 private:
  void Refuse(const YAML::Node& node, const std::string& path, const std::string& what);
  void ReadMessage(const YAML::Node& node, const std::string& path, int depth, google::protobuf::Message* message);
  void ReadEntry(const YAML::Node& key, const YAML::Node& value, const std::string& path, int depth,
                 google::protobuf::Message* message);
  void ReadField(const YAML::Node& node, const std::string& path, const google::protobuf::FieldDescriptor& field,
                 int depth, google::protobuf::Message* message);
  void ReadValue(const YAML::Node& node, const std::string& path, const google::protobuf::FieldDescriptor& field,
                 int depth, google::protobuf::Message* message);
  // False, and a problem once: there are more values than may be.
  bool Counts(const YAML::Node& node);
  // That of the entry around it where yaml-cpp knows none.
  int LineOf(const YAML::Node& node) const;

  YamlDocument& document_;
  int values_ = 0;
  int line_ = 1;  // The line of the entry that is being read.
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_READER_H_
