#include "common/spec/message_fields.h"

namespace rekindle::common {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const FieldDescriptor* Find(const Message& message, const std::string& field) {
  return message.GetDescriptor()->FindFieldByName(field);
}

}  // namespace

bool HasField(const Message& message, const std::string& field) {
  const FieldDescriptor* found = Find(message, field);
  return found != nullptr && message.GetReflection()->HasField(message, found);
}

double NumberOf(const Message& message, const std::string& field) {
  const FieldDescriptor* found = Find(message, field);
  const auto* reflection = message.GetReflection();
  return found->cpp_type() == FieldDescriptor::CPPTYPE_INT32 ? reflection->GetInt32(message, found)
                                                             : reflection->GetDouble(message, found);
}

void SetNumber(const std::string& field, double value, Message* message) {
  const FieldDescriptor* found = Find(*message, field);
  const auto* reflection = message->GetReflection();
  if (found->cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection->SetInt32(message, found, static_cast<int>(value));
  } else {
    reflection->SetDouble(message, found, value);
  }
}

const Message* SectionOf(const Message& message, const std::string& field) {
  if (!HasField(message, field)) return nullptr;
  return &message.GetReflection()->GetMessage(message, Find(message, field));
}

Message* MutableSectionOf(Message* message, const std::string& field) {
  return HasField(*message, field) ? message->GetReflection()->MutableMessage(message, Find(*message, field)) : nullptr;
}

}  // namespace rekindle::common
