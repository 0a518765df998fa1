// Tests how Machines follows a fleet file and the file that replaces it. Scripts give the machines, and a fake cloud
// reports prices.
#include "coordinator/server/watchers/machines.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/fleet/file/fleet_text.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// `kHook` is a script for pools with `provider: exec`. It says that it has as many machines as were ordered, and keeps
// that number in one file per pool.
constexpr char kHook[] = R"(#!/bin/sh
file=$(dirname "$0")/$2
case $1 in
  desired) echo "$3" > "$file.new" && mv "$file.new" "$file" ;;
  list)
    n=$(cat "$file" 2>/dev/null || echo 0) machines=
    while [ "$n" -gt 0 ]; do machines="$machines${machines:+,}{\"id\":\"m$n\"}" n=$((n - 1)); done
    echo "{\"machines\":[$machines]}" ;;
esac
)";

class MachinesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* site : {"east", "west"}) {
      std::filesystem::create_directory(dir_ + "/" + site);
      const std::string hook = absl::StrCat(dir_, "/", site, "/hook");
      std::ofstream(hook) << kHook;
      std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
    }
    machines_ = std::make_unique<Machines>(
        Machines::Options{.fleet = dir_ + "/fleet.yaml", .data = dir_, .endpoint_file = dir_ + "/endpoint"});
  }
  void TearDown() override { machines_->Stop(); }

  std::string Pool(const std::string& name, const std::string& site, const std::string& more = "") const {
    return absl::StrCat("{name: ", name, ", provider: exec, zone: ", name,
                        ", capacity: spot, price: 1, max: 9, machines: {poll_seconds: 0.1, command: [", dir_, "/", site,
                        "/hook]}", more, "}");
  }
  static v1::Fleet Fleet(const std::string& pools) {
    const auto fleet = fleet::ParseFleet("pools: [" + pools + "]", "fleet.yaml");
    EXPECT_TRUE(fleet.ok()) << fleet.status();
    return fleet.ok() ? *fleet : v1::Fleet();
  }
  absl::Status Start(const std::string& pools) {
    return machines_->Start(Fleet(pools), {[this](const core::PoolReported& report) {
                                             const common::MutexLock lock(mutex_);
                                             running_[report.pool] = report.running;
                                             changed_.NotifyAll();
                                           },
                                           [this](const core::PriceHeard& heard) {
                                             const common::MutexLock lock(mutex_);
                                             prices_[heard.pool] = heard.price;
                                             changed_.NotifyAll();
                                           }});
  }
  bool Await(const std::function<bool()>& is) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(20), is);
  }
  bool AwaitRunning(const std::string& pool, int nodes) {
    return Await(
        [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return running_.count(pool) > 0 && running_[pool] == nodes; });
  }
  int At(const std::string& site, const std::string& pool) const {
    int nodes = -1;
    std::ifstream(absl::StrCat(dir_, "/", site, "/", pool)) >> nodes;
    return nodes;
  }

  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
  common::Mutex mutex_;
  common::CondVar changed_;
  std::map<std::string, int> running_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, double> prices_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Machines> machines_;
};

TEST_F(MachinesTest, AMarketThatIsSetBeforeTheStartWaitsForIt) {
  absl::Status set;
  std::thread early([&] {
    v1::SetMarketRequest request;
    request.set_pool("here");
    request.set_nodes(1);
    set = machines_->SetMarket(request);
  });
  const absl::Status started = Start("{name: here, provider: local, zone: z, capacity: spot, machines: {}}");
  early.join();
  EXPECT_TRUE(started.ok()) << started;
  EXPECT_TRUE(set.ok()) << set;
}

TEST_F(MachinesTest, AnotherFileTakesTheStandingOrdersOver) {
  // The order for pool a is given before Start, so it has to wait until then.
  machines_->Order({.pool = "a", .nodes = 2});
  ASSERT_TRUE(Start(Pool("a", "east") + ", " + Pool("b", "east")).ok());
  EXPECT_TRUE(AwaitRunning("a", 2));
  machines_->Order({.pool = "b", .nodes = 1});
  EXPECT_TRUE(AwaitRunning("b", 1));
  {
    const common::MutexLock lock(mutex_);
    running_.clear();
  }
  // In the new fleet file, pool a orders its machines from another place. Pool b is missing, and its machines stay.
  // Pool c is new.
  const absl::Status reloaded = machines_->Reload(Fleet(Pool("a", "west") + ", " + Pool("c", "west", ", min: 1")));
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_TRUE(AwaitRunning("a", 2));
  EXPECT_TRUE(AwaitRunning("c", 1));
  EXPECT_EQ(At("west", "a"), 2);
  EXPECT_EQ(At("west", "c"), 1);
  EXPECT_EQ(At("east", "b"), 1);
  machines_->Order({.pool = "a", .nodes = 3});
  EXPECT_TRUE(AwaitRunning("a", 3));
  EXPECT_EQ(At("east", "a"), 2);
}

TEST_F(MachinesTest, LocalPoolsAreChangedByARestartAlone) {
  ASSERT_TRUE(Start(Pool("a", "east")).ok());
  const absl::Status refused = machines_->Reload(
      Fleet(Pool("a", "west") + ", {name: here, provider: local, zone: z, capacity: spot, machines: {}}"));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("local pool 'here'"), HasSubstr("restart the coordinator")));
  machines_->Order({.pool = "a", .nodes = 1});
  EXPECT_TRUE(AwaitRunning("a", 1));
  // The fleet file that was refused would have moved pool a from "east" to "west".
  EXPECT_EQ(At("east", "a"), 1);
}

TEST_F(MachinesTest, NoFileIsTakenOnceTheMachinesWereStopped) {
  ASSERT_TRUE(Start(Pool("a", "east")).ok());
  machines_->Stop();
  const absl::Status refused = machines_->Reload(Fleet(Pool("a", "west")));
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
}

TEST_F(MachinesTest, PricesAreAskedForAndReloadAsksAnew) {
  setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
  setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
  std::atomic<double> price = 0.25;
  fleet::FakeCloud cloud([&](const httplib::Request&, httplib::Response& response) {
    response.set_content(absl::StrCat("<R><spotPriceHistorySet><item><instanceType>t</instanceType><productDescription>"
                                      "Linux/UNIX</productDescription><spotPrice>",
                                      price.load(),
                                      "</spotPrice><timestamp>2026-11-01T00:00:00Z</timestamp><availabilityZone>z"
                                      "</availabilityZone></item></spotPriceHistorySet></R>"),
                         "text/xml");
  });
  const std::string pool = absl::StrCat(
      "{name: p, provider: aws, region: r, zone: z, instance_type: t, capacity: spot, price: 1, price_from: provider, ",
      "machines: {group: g, endpoint: '", cloud.endpoint(), "', price_endpoint: '", cloud.endpoint(), "'}}");
  ASSERT_TRUE(Start(pool).ok());
  EXPECT_TRUE(Await([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return prices_["p"] == 0.25; }));
  // By itself, the watch of prices asks the cloud only every few minutes. After Reload it must ask at once.
  price = 0.5;
  ASSERT_TRUE(machines_->Reload(Fleet(pool)).ok());
  EXPECT_TRUE(Await([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return prices_["p"] == 0.5; }));
}

}  // namespace
}  // namespace rekindle::coordinator
