#include "coordinator/core/record/testing/filled_record.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::core {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Gives every field of `message`, and of all messages in it, a value of its own. A oneof has only its first field
// set.
void Fill(Message* message, int* next) {
  const auto* descriptor = message->GetDescriptor();
  const auto* reflection = message->GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (field->real_containing_oneof() != nullptr && field->index_in_oneof() > 0) continue;
    const int value = ++*next;
    const bool many = field->is_repeated();
    const auto set = [&](auto one, auto add) { many ? add() : one(); };
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(many ? reflection->AddMessage(message, field) : reflection->MutableMessage(message, field), next);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        set([&] { reflection->SetString(message, field, absl::StrCat("text ", value)); },
            [&] { reflection->AddString(message, field, absl::StrCat("text ", value)); });
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        set([&] { reflection->SetInt32(message, field, value); }, [&] { reflection->AddInt32(message, field, value); });
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        reflection->SetInt64(message, field, (int64_t{1} << 53) + value);
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        reflection->SetUInt64(message, field, ~uint64_t{0} - static_cast<uint64_t>(value));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        set([&] { reflection->SetDouble(message, field, value / 7.0); },
            [&] { reflection->AddDouble(message, field, value / 7.0); });
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        reflection->SetBool(message, field, true);
        break;
      case FieldDescriptor::CPPTYPE_ENUM:
        reflection->SetEnumValue(message, field, field->enum_type()->value(1)->number());
        break;
      default:
        FAIL() << "a field of another type: " << field->full_name();
    }
  }
}

}  // namespace

v1::JobRecord FilledRecord(const std::string& job_uid) {
  v1::JobRecord record;
  int next = 0;
  Fill(&record, &next);
  record.mutable_job()->set_uid(job_uid);
  return record;
}

}  // namespace rekindle::core
