// Reads and sets fields of a message by their names, for code that follows declared fields
// (worker/contract/parameter.h) instead of the proto.
#ifndef REKINDLE_COMMON_SPEC_MESSAGE_FIELDS_H_
#define REKINDLE_COMMON_SPEC_MESSAGE_FIELDS_H_

#include <google/protobuf/message.h>

#include <string>

namespace rekindle::common {

// Returns whether the message has a field of the name `field`, and the field is set.
bool HasField(const google::protobuf::Message& message, const std::string& field);
// Returns the value of a field of type int32 or double. REQUIRES: the message has such a field.
double NumberOf(const google::protobuf::Message& message, const std::string& field);
// Sets a field of type int32 or double. For int32 the value is truncated. REQUIRES: the message has such a field.
void SetNumber(const std::string& field, double value, google::protobuf::Message* message);

// Returns the message in the field of the name `field`, or null if there is no such field or it is not set.
const google::protobuf::Message* SectionOf(const google::protobuf::Message& message, const std::string& field);
google::protobuf::Message* MutableSectionOf(google::protobuf::Message* message, const std::string& field);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SPEC_MESSAGE_FIELDS_H_
