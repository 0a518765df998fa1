// Reads one YAML document into one message for yaml.h.
#ifndef REKINDLE_COMMON_SPEC_YAML_READER_H_
#define REKINDLE_COMMON_SPEC_YAML_READER_H_

#include <google/protobuf/message.h>
#include <yaml-cpp/yaml.h>

#include <string>

#include "absl/status/status.h"
#include "common/spec/yaml_document.h"

namespace rekindle::common {

// Sets the field, or adds to it if the field is a list. INVALID_ARGUMENT changes nothing. Its message may follow the
// field's name: "must be a whole number, not 'many'".
absl::Status SetScalar(const YAML::Node& node, const google::protobuf::FieldDescriptor& field,
                       google::protobuf::Message* message);

// Returns "is not a field; did you mean `training`?", or a text that lists the fields.
std::string DescribeUnknown(const std::string& name, const google::protobuf::Descriptor& descriptor);

// Reads a YAML document, collects what is wrong with it, and reads on after each problem. It is thread-compatible.
class YamlReader {
 public:
  // The caller owns `document`, which receives lines and problems.
  explicit YamlReader(YamlDocument* document) : document_(*document) {}

  // Reads the document. It may throw YAML::Exception.
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
  // Counts a value. If there are more values than allowed, it returns false and reports that once.
  bool Counts(const YAML::Node& node);
  // Returns the line of the node. If yaml-cpp does not know the line, it returns that of the entry around the node.
  int LineOf(const YAML::Node& node) const;

  YamlDocument& document_;
  int values_ = 0;
  // `line_` is the line of the entry that is being read.
  int line_ = 1;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_YAML_READER_H_
