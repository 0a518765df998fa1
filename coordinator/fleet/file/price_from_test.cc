#include "coordinator/fleet/file/price_from.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/spec/yaml.h"
#include "coordinator/fleet/file/fleet_file.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;

constexpr char kAws[] =
    "provider: aws, region: us-east-2, zone: us-east-2a, instance_type: c7i.large, price_from: provider";
constexpr char kAzure[] =
    "provider: azure, region: eastus, zone: eastus-1, instance_type: Standard_F8s_v2, price_from: provider";
constexpr char kGcp[] =
    "provider: gcp, region: us-central1, zone: us-central1-a, instance_type: g2-standard-4, price_from: provider";
constexpr char kGroup[] = "machines: {group: g}";
constexpr char kManaged[] = "machines: {group: g, project: p}";
constexpr char kScaleSet[] = "machines: {group: g, subscription: s, resource_group: r}";

absl::Status Resolve(const std::string& pool, const std::string& more = "") {
  v1::Fleet fleet;
  const absl::Status parsed = common::ParseYaml(absl::StrCat(more, "pools: [{", pool, "}]"), "fleet.yaml", &fleet);
  return parsed.ok() ? ResolveFleet(fleet).status() : parsed;
}

std::string Refused(const std::string& pool, const std::string& more = "") {
  const absl::Status status = Resolve(pool, more);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << pool;
  return std::string(status.message());
}

std::string Spot(const std::string& pool, const std::string& more) {
  return absl::StrCat(pool, ", capacity: spot, price: 1, ", more);
}

TEST(PriceFrom, WhoCanBeAskedIs) {
  for (const std::string& good :
       {Spot(kAws, kGroup), Spot(kAzure, kScaleSet),
        absl::StrCat(kAzure, ", capacity: on_demand, price: 1, ", kScaleSet), Spot(kGcp, kManaged),
        absl::StrCat(kGcp, ", capacity: on_demand, price: 1, ", kManaged),
        Spot(kGcp, "machines: {group: g, project: p, price_endpoint: 'https://x'}"),
        Spot("provider: local, zone: z, price_from: file", "max: 1")}) {
    EXPECT_TRUE(Resolve(good).ok()) << good << Resolve(good);
  }
  EXPECT_TRUE(Resolve(Spot(kAzure, kScaleSet), "currency: EUR\n").ok());
  EXPECT_TRUE(Resolve(Spot(kGcp, kManaged), "currency: EUR\n").ok());
}

TEST(PriceFrom, WhatCannotBeAskedIsNamed) {
  EXPECT_THAT(Refused(Spot(kAws, "max: 2")),
              HasSubstr("pools[0].price_from: asks with the account of the pool's machines"));
  EXPECT_THAT(Refused(absl::StrCat(kAws, ", capacity: on_demand, price: 1, ", kGroup)), HasSubstr("spot prices only"));
  EXPECT_THAT(Refused(absl::StrCat(kAws, ", capacity: spot, ", kGroup)), HasSubstr("pools[0].price: is missing"));
  EXPECT_THAT(Refused(Spot(kAws, kGroup), "currency: EUR\n"), HasSubstr("in USD, and currency is EUR"));
  EXPECT_THAT(Refused(Spot("provider: kubernetes, zone: z, price_from: provider", kGroup)),
              HasSubstr("provider kubernetes is not asked for prices (aws, azure and gcp are)"));
  EXPECT_THAT(Refused(Spot("provider: gcp, zone: z-a, price_from: provider", kManaged)),
              HasSubstr("pools[0].region: is missing"));
  EXPECT_THAT(Refused(Spot("provider: gcp, region: z, zone: z-a, price_from: provider", kManaged)),
              HasSubstr("pools[0].instance_type: is missing"));
  EXPECT_THAT(Refused(Spot("provider: gcp, region: us-east1, zone: us-east10-b, instance_type: t, price_from: provider",
                           kManaged)),
              HasSubstr("pools[0].region: zone us-east10-b is not in us-east1"));
  EXPECT_THAT(Refused(Spot("provider: aws, region: r, zone: z, price_from: provider", kGroup)),
              HasSubstr("pools[0].instance_type: is missing"));
  EXPECT_THAT(
      Refused(Spot("provider: azure, region: e, zone: z, instance_type: \"a' or '\", price_from: provider", kScaleSet)),
      HasSubstr("pools[0].instance_type: must be letters"));
  EXPECT_THAT(Refused(Spot("provider: aws, region: r, zone: z, price_from: cloud", kGroup)),
              HasSubstr("'cloud' is not known; known: file, provider"));
  EXPECT_THAT(Refused(Spot("provider: aws, region: r, zone: z", "machines: {group: g, price_endpoint: 'https://x'}")),
              HasSubstr("add `price_from: provider`"));
  EXPECT_THAT(Refused(Spot(kAws, "machines: {group: g, price_endpoint: 'http://x.example'}")),
              HasSubstr("machines.price_endpoint: "));
}

}  // namespace
}  // namespace rekindle::fleet
