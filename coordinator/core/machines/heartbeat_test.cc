#include "coordinator/core/machines/heartbeat.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rekindle::core {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Changes one field of the message, so that the field no longer has its default. Adds an element to a repeated field.
void Change(Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  if (field.is_repeated() && field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    reflection.AddMessage(&message, &field);
    return;
  }
  if (field.is_repeated()) return reflection.AddString(&message, &field, "other");
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(&message, &field, "other");
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&message, &field, 7);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, true);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&message, &field, 7);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      reflection.MutableMessage(&message, &field);
      return;
    default:
      FAIL() << "this test does not know how to change " << field.full_name();
  }
}

// `kNewEachTime` lists the fields of a node's report that SaysTheSame does not compare. Whom the node obeys (`obeys`)
// concerns only the server.
const std::set<std::string> kNewEachTime = {"known_revision", "wait_ms", "logs", "hint", "obeys"};

TEST(Heartbeat, EveryOtherFieldIsNews) {
  const auto& type = *v1::NodeReport::descriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    v1::NodeReport before, after;
    before.set_node("n1");
    after = before;
    Change(after, *type.field(i));
    const bool same = kNewEachTime.count(type.field(i)->name()) > 0;
    EXPECT_EQ(SaysTheSame(before, after), same) << type.field(i)->name();
    EXPECT_EQ(SaysTheSame(after, before), same) << type.field(i)->name();
    EXPECT_TRUE(SaysTheSame(after, after)) << type.field(i)->name();
  }
}

TEST(Heartbeat, SoIsEveryFieldOfDeviceAndProcess) {
  const auto changed = [](auto part, const auto& put) {
    const auto& type = *part.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      v1::NodeReport before, after;
      put(before, part);
      auto other = part;
      Change(other, *type.field(i));
      put(after, other);
      EXPECT_FALSE(SaysTheSame(before, after)) << type.field(i)->full_name();
    }
  };
  changed(v1::Device(), [](v1::NodeReport& of, const v1::Device& device) { *of.mutable_device() = device; });
  changed(v1::TrainerProcess(), [](v1::NodeReport& of, const v1::TrainerProcess& one) { *of.add_trainers() = one; });
}

}  // namespace
}  // namespace rekindle::core
