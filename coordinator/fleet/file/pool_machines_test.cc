#include "coordinator/fleet/file/pool_machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/spec/yaml.h"
#include "coordinator/fleet/file/fleet_file.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;

absl::StatusOr<v1::Fleet> Fleet(const std::string& pools) {
  v1::Fleet fleet;
  if (absl::Status s = common::ParseYaml("pools: [" + pools + "]", "fleet.yaml", &fleet); !s.ok()) return s;
  return ResolveFleet(fleet);
}

std::string Pool(const std::string& provider, const std::string& machines, const std::string& more = "") {
  return absl::StrCat("{provider: ", provider, ", region: r, zone: z, capacity: spot", more, ", machines: {", machines,
                      "}}");
}

std::string Refused(const std::string& pools) {
  const auto fleet = Fleet(pools);
  EXPECT_EQ(fleet.status().code(), absl::StatusCode::kInvalidArgument) << pools;
  return std::string(fleet.status().message());
}

TEST(Machines, DefaultsAreFilledIn) {
  const auto fleet = Fleet(Pool("local", ""));
  ASSERT_TRUE(fleet.ok()) << fleet.status();
  EXPECT_EQ(fleet->pools(0).max(), 8);
  EXPECT_EQ(fleet->pools(0).machines().market().nodes(), 8);
  EXPECT_EQ(fleet->pools(0).machines().poll_seconds(), 2);
  EXPECT_EQ(Fleet(Pool("aws", "group: g", ", min: 3"))->pools(0).machines().start_seconds(), 300);
  EXPECT_EQ(Fleet(Pool("local", "market: {nodes: 0}"))->pools(0).machines().market().nodes(), 0);
}

TEST(Machines, EachProviderHasItsFields) {
  EXPECT_THAT(Refused(Pool("aws", "")), HasSubstr("pools[0].machines.group: is missing: provider aws needs it"));
  EXPECT_THAT(Refused(Pool("gcp", "group: g")), HasSubstr("machines.project: is missing"));
  EXPECT_THAT(Refused(Pool("azure", "group: g, subscription: s")), HasSubstr("machines.resource_group: is missing"));
  EXPECT_THAT(Refused(Pool("kubernetes", "namespace: n")), HasSubstr("machines.group: is missing"));
  EXPECT_THAT(Refused(Pool("exec", "")), HasSubstr("machines.command: is missing"));
  EXPECT_THAT(Refused(Pool("exec", "command: [hook]")), HasSubstr("'hook' must be an absolute path"));
  EXPECT_THAT(Refused(Pool("local", "group: g")), HasSubstr("machines.group: is not for provider local: remove it"));
  EXPECT_THAT(Refused(Pool("aws", "grop: g")), HasSubstr("did you mean `group`?"));
  for (const std::string& good :
       {Pool("gcp", "group: g, project: p"), Pool("azure", "group: g, subscription: s, resource_group: r"),
        Pool("kubernetes", "group: g"), Pool("exec", "command: [/bin/hook, a]")}) {
    EXPECT_TRUE(Fleet(good).ok()) << Fleet(good).status();
  }
}

TEST(Machines, WhatCannotBeIsNamed) {
  EXPECT_THAT(Refused(Pool("aws", "group: g, endpoint: 'http://example.com'")), HasSubstr("machines.endpoint: "));
  EXPECT_THAT(Refused(Pool("aws", "group: 'g?a=b'")), HasSubstr("machines.group: must be letters"));
  EXPECT_THAT(Refused(Pool("gcp", "group: '..', project: p")), HasSubstr("machines.group: must be letters"));
  EXPECT_THAT(Refused("{provider: aws, zone: z, capacity: spot, machines: {group: g}}"),
              HasSubstr("pools[0].region: is missing"));
  EXPECT_THAT(Refused(Pool("aws", "group: g, start_seconds: -1")), HasSubstr("start_seconds: -1 is out of range"));
  EXPECT_THAT(Refused(Pool("aws", "group: g, poll_seconds: 0.01")), HasSubstr("poll_seconds: 0.01 is out of range"));
  EXPECT_THAT(Refused(Pool("local", "market: {nodes: -1}")), HasSubstr("market.nodes: -1 is out of range"));
  EXPECT_THAT(Refused(Pool("local", "market: {nodes: 1, trace: t.csv}")), HasSubstr("given beside trace"));
  EXPECT_THAT(Refused("{provider: aws, zone: z, capacity: spot, min: 1}"), HasSubstr("pools[0].min: the coordinator"));
}

TEST(Machines, AGroupBelongsToOnePool) {
  EXPECT_THAT(Refused(absl::StrCat(Pool("aws", "group: g"), ", ", Pool("aws", "group: g", ", instance_type: t"))),
              HasSubstr("pools[1].machines.group: 'g' is the group of pools[0] too"));
}

}  // namespace
}  // namespace rekindle::fleet
