// The machines of a fleet file, and of the next one, with hooks and a cloud that tells prices.
#include "coordinator/server/machines.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/fleet_text.h"
#include "coordinator/fleet/providers/cloud_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Has what it is told to have, in a file a pool.
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
    char name[] = "/tmp/rekindle-machines-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
    for (const char* site : {"east", "west"}) {
      std::filesystem::create_directory(dir_ + "/" + site);
      const std::string hook = absl::StrCat(dir_, "/", site, "/hook");
      std::ofstream(hook) << kHook;
      std::filesystem::permissions(hook, std::filesystem::perms::owner_all);
    }
    machines_ = std::make_unique<Machines>(
        Machines::Options{.fleet = dir_ + "/fleet.yaml", .data = dir_, .endpoint_file = dir_ + "/endpoint"});
  }
  void TearDown() override {
    machines_->Stop();
    std::filesystem::remove_all(dir_);
  }

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
                                             const std::lock_guard lock(mutex_);
                                             running_[report.pool] = report.running;
                                             changed_.notify_all();
                                           },
                                           [this](const core::PriceHeard& heard) {
                                             const std::lock_guard lock(mutex_);
                                             prices_[heard.pool] = heard.price;
                                             changed_.notify_all();
                                           }});
  }
  bool Await(const std::function<bool()>& is) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), is);
  }
  bool AwaitRunning(const std::string& pool, int nodes) {
    return Await([&] { return running_.count(pool) > 0 && running_[pool] == nodes; });
  }
  int At(const std::string& site, const std::string& pool) const {
    int nodes = -1;
    std::ifstream(absl::StrCat(dir_, "/", site, "/", pool)) >> nodes;
    return nodes;
  }

  std::string dir_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, int> running_;
  std::map<std::string, double> prices_;
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
  machines_->Order({.pool = "a", .nodes = 2});  // Before it has begun.
  ASSERT_TRUE(Start(Pool("a", "east") + ", " + Pool("b", "east")).ok());
  EXPECT_TRUE(AwaitRunning("a", 2));
  machines_->Order({.pool = "b", .nodes = 1});
  EXPECT_TRUE(AwaitRunning("b", 1));
  {
    const std::lock_guard lock(mutex_);
    running_.clear();
  }
  // Elsewhere from now on; b is gone, and what it has stays; c is new.
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
  EXPECT_EQ(At("east", "a"), 1);  // As before.
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
  EXPECT_TRUE(Await([&] { return prices_["p"] == 0.25; }));
  price = 0.5;  // It is asked next in minutes.
  ASSERT_TRUE(machines_->Reload(Fleet(pool)).ok());
  EXPECT_TRUE(Await([&] { return prices_["p"] == 0.5; }));
}

}  // namespace
}  // namespace rekindle::coordinator
