#include "coordinator/fleet/providers/registry/registry.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/spec/yaml.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/fleet/file/fleet_file.h"
#include "coordinator/fleet/providers/registry/priced_accounts.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;

class RegistryTest : public testing::Test {
 protected:
  absl::StatusOr<Providers> Open(const std::string& pools) {
    v1::Fleet fleet;
    absl::Status status = common::ParseYaml("pools:\n" + pools, "fleet.yaml", &fleet);
    if (!status.ok()) return status;
    const auto resolved = ResolveFleet(fleet);
    if (!resolved.ok()) return resolved.status();
    return OpenProviders(*resolved, {.data = dir_, .endpoint_file = dir_ + "/endpoint", .beside = dir_});
  }

  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
};

TEST_F(RegistryTest, PoolsOfOneAccountShareAProvider) {
  const auto providers = Open(R"(
  - {name: priced, provider: aws, region: r, zone: z, capacity: spot}
  - {name: a1, provider: aws, region: east, zone: a, capacity: spot, max: 9, min: 2,
     machines: {group: g1, start_seconds: 60}}
  - {name: a2, provider: aws, region: east, zone: b, capacity: spot, machines: {group: g2}}
  - {name: w, provider: aws, region: west, zone: a, capacity: spot, machines: {group: g1}}
  - {name: g, provider: gcp, zone: z, capacity: spot, machines: {group: g, project: p}}
  - {name: z, provider: azure, zone: z, capacity: spot, machines: {group: g, subscription: s, resource_group: r}}
  - {name: h, provider: exec, zone: z, capacity: spot, machines: {command: [/bin/hook]}}
  - {name: l1, provider: local, zone: z, capacity: spot, machines: {}}
  - {name: l2, provider: local, zone: y, capacity: spot, machines: {boot_seconds: 5, start_seconds: 10}}
)");
  ASSERT_TRUE(providers.ok()) << providers.status();
  EXPECT_EQ(providers->accounts.size(), 6u);
  EXPECT_NE(providers->local, nullptr);
  for (const Account& account : providers->accounts) {
    const ReconcileOptions& first = account.pools[0];
    if (first.pool == "a1") {
      EXPECT_EQ(account.pools.size(), 2u);
      EXPECT_EQ(first.min, 2);
      EXPECT_EQ(first.max, 9);
      EXPECT_EQ(first.start_seconds, 60);
    }
    if (first.pool == "l1") {
      // The `start_seconds` of a local pool contain the `boot_seconds` from the fleet file.
      EXPECT_EQ(account.pools[1].start_seconds, 15);
    }
  }
}

TEST_F(RegistryTest, NothingIsOpenedForPricesAlone) {
  const auto providers = Open("  - {provider: kubernetes, zone: z, capacity: spot, price: 1}\n");
  ASSERT_TRUE(providers.ok()) << providers.status();
  EXPECT_TRUE(providers->accounts.empty());
}

TEST_F(RegistryTest, ATraceLiesBesideTheFleetFile) {
  const std::string pool =
      "  - {name: l, provider: local, zone: z, capacity: spot, machines: {market: {trace: t.csv}}}\n";
  EXPECT_THAT(std::string(Open(pool).status().message()), HasSubstr("pool l: machines.market.trace: "));
  std::ofstream(dir_ + "/t.csv") << "tick,other\n0,1\n";
  EXPECT_THAT(std::string(Open(pool).status().message()), HasSubstr("t.csv has no column z"));
  std::ofstream(dir_ + "/t.csv") << "tick,z\n0,1\n1,2\n";
  EXPECT_TRUE(Open(pool).ok()) << Open(pool).status();
}

TEST_F(RegistryTest, AClusterThatCannotBeReachedIsSaidWithTheFix) {
  const std::string pool = "  - {name: k, provider: kubernetes, zone: z, capacity: spot, machines: {group: g}}\n";
  unsetenv("KUBERNETES_SERVICE_HOST");
  EXPECT_THAT(std::string(Open(pool).status().message()), HasSubstr("name a kubeconfig in machines.kubeconfig"));
}

TEST_F(RegistryTest, AnUnknownProviderIsNeverOpenedAsAnother) {
  v1::Fleet fleet;
  v1::Fleet::Pool& pool = *fleet.add_pools();
  pool.set_name("p");
  pool.set_provider("cloudy");
  pool.set_price_from("provider");
  pool.mutable_machines()->set_group("g");
  for (const absl::Status& refused : {OpenProviders(fleet, {}).status(), OpenPrices(fleet).status()}) {
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("pool p: provider: 'cloudy' is not known; known: local"));
  }
  pool.set_provider("exec");
  EXPECT_THAT(std::string(OpenPrices(fleet).status().message()), HasSubstr("provider exec is not asked for prices"));
}

TEST(Prices, OneAccountForAllThatAreAskedForInOnePlace) {
  v1::Fleet fleet;
  ASSERT_TRUE(common::ParseYaml(R"(
pools:
  - {name: a1, provider: aws, region: east, zone: a, instance_type: t, capacity: spot, price: 1, price_from: provider,
     machines: {group: g1}}
  - {name: a2, provider: aws, region: east, zone: b, instance_type: t, capacity: spot, price: 1, price_from: provider,
     machines: {group: g2}}
  - {name: w, provider: aws, region: west, zone: a, instance_type: t, capacity: spot, price: 1, price_from: provider,
     machines: {group: g1}}
  - {name: f, provider: aws, region: north, zone: a, instance_type: t, capacity: spot, price: 1,
     machines: {group: g1}}
  - {name: z, provider: azure, region: r, zone: z, instance_type: t, capacity: on_demand, price: 1,
     price_from: provider, machines: {group: g, subscription: s, resource_group: r}}
  - {name: g1, provider: gcp, region: r, zone: r-a, instance_type: n2-standard-2, capacity: spot, price: 1,
     price_from: provider, machines: {group: g1, project: p}}
  - {name: g2, provider: gcp, region: q, zone: q-a, instance_type: n2-standard-2, capacity: spot, price: 1,
     price_from: provider, machines: {group: g2, project: o}}
  - {name: g3, provider: gcp, region: r, zone: r-b, instance_type: n2-standard-2, capacity: spot, price: 1,
     price_from: provider, machines: {group: g3, project: p, endpoint: "https://emulator"}}
)",
                                "fleet.yaml", &fleet)
                  .ok());
  const auto resolved = ResolveFleet(fleet);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const auto accounts = OpenPrices(*resolved);
  ASSERT_TRUE(accounts.ok()) << accounts.status();
  std::vector<std::vector<std::string>> pools;
  for (const PricedAccount& account : *accounts) pools.push_back(account.pools);
  EXPECT_EQ(pools, (std::vector<std::vector<std::string>>{{"a1", "a2"}, {"w"}, {"z"}, {"g1", "g2"}, {"g3"}}));
}

}  // namespace
}  // namespace rekindle::fleet
