#include "coordinator/fleet/providers/registry/provider_kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;

TEST(ProviderKinds, EachIsFoundByItsOwnName) {
  std::set<std::string> names;
  for (const ProviderKind* kind : ProviderKinds()) {
    EXPECT_TRUE(names.insert(kind->name).second) << kind->name;
    const auto found = FindProviderKind("provider", kind->name);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, kind);
  }
}

TEST(ProviderKinds, AnUnknownNameIsRefusedWithTheKnownOnes) {
  for (const char* name : {"", "cloudy", "AWS", "aws "}) {
    const absl::Status refused = FindProviderKind("pools[0].provider", name).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("known: local, kubernetes, aws, gcp, azure, exec")) << name;
  }
}

TEST(ProviderKinds, EachFieldIsOneOfTheFleetFile) {
  for (const ProviderKind* kind : ProviderKinds()) {
    std::set<std::string> names;
    for (const MachineField& field : kind->fields) {
      const auto* described = v1::Fleet::Machines::descriptor()->FindFieldByName(field.name);
      ASSERT_NE(described, nullptr) << kind->name << " " << field.name;
      EXPECT_TRUE(names.insert(field.name).second) << kind->name << " " << field.name;
      if (field.form == MachineField::Form::kOther) continue;
      EXPECT_EQ(described->type(), google::protobuf::FieldDescriptor::TYPE_STRING) << field.name;
      EXPECT_FALSE(described->is_repeated()) << field.name;
    }
    EXPECT_NE(kind->account, nullptr) << kind->name;
    EXPECT_NE(kind->open, nullptr) << kind->name;
    EXPECT_EQ(names.contains("price_endpoint"), kind->prices != nullptr) << kind->name;
  }
}

TEST(ProviderKinds, WhoIsNotAskedForPricesIsToldWhoIs) {
  for (const ProviderKind* kind : ProviderKinds()) {
    const auto prices = FindPriceKind("price_from", *kind);
    EXPECT_EQ(prices.ok(), kind->prices != nullptr) << kind->name;
    if (prices.ok()) continue;
    EXPECT_THAT(std::string(prices.status().message()), HasSubstr("aws, azure and gcp are")) << kind->name;
  }
}

}  // namespace
}  // namespace rekindle::fleet
