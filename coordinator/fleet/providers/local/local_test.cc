// These tests run real processes: the nodes of two pools on this machine, without a coordinator.
#include "coordinator/fleet/providers/local/local.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/local/local_node.h"

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool Await(const std::function<bool()>& is) {
  const double end = common::SteadySeconds() + 30;
  while (common::SteadySeconds() < end) {
    if (is()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class LocalTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(dir_ + "/endpoint") << "127.0.0.1:1\n";
    // In the folder of programs, /bin/true takes the place of the trainer, because the trainer may not have been built.
    // No job starts it.
    std::filesystem::create_directory(dir_ + "/bin");
    for (const char* program : {"rekindle-worker", "rekindle-checkpoint"}) {
      std::filesystem::copy_file(Beside() / program, dir_ + "/bin/" + program);
    }
    std::filesystem::copy_file("/bin/true", dir_ + "/bin/rekindle-trainer");
    options_ = {.folder = dir_,
                .endpoint_file = dir_ + "/endpoint",
                .memory = 1e9,
                .programs = dir_ + "/bin",
                .pools = {{.pool = "cheap", .nodes = 4}, {.pool = "zone-a/t/spot", .nodes = 1}}};
  }
  void TearDown() override {
    if (provider_ != nullptr) provider_->EndAll(0);
    provider_.reset();
    std::error_code none;
    for (const auto& node : std::filesystem::directory_iterator(dir_ + "/nodes", none)) KillNode(node.path());
  }
  void Open() {
    auto opened = LocalProvider::Open(options_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    provider_ = *std::move(opened);
  }
  std::vector<std::string> Nodes(const std::string& pool) {
    std::vector<std::string> nodes;
    const auto listing = provider_->List(pool, 1);
    if (!listing.ok()) return {listing.status().ToString()};
    for (const Machine& machine : listing->machines) {
      if (machine.state != MachineState::kEnding) nodes.push_back(machine.node);
    }
    return nodes;
  }
  // Returns whether the node's agent is up.
  bool Serves(const std::string& node) { return std::filesystem::exists(dir_ + "/nodes/" + node + "/agent.sock"); }
  bool Runs(const std::string& node) { return FindProgram(dir_ + "/nodes/" + node, "init").ok(); }

  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
  LocalOptions options_;
  std::unique_ptr<LocalProvider> provider_;
};

TEST_F(LocalTest, TwoPoolsOnOneMachine) {
  Open();
  EXPECT_TRUE(provider_->SetDesired("cheap", 2, {}, 1).ok());
  const absl::Status refused = provider_->SetDesired("zone-a/t/spot", 2, {}, 1);
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("lets 1 of 2 nodes run"));
  EXPECT_THAT(Nodes("cheap"), ElementsAre("cheap-1", "cheap-2"));
  EXPECT_THAT(Nodes("zone-a/t/spot"), ElementsAre("zone-a-t-spot-1"));
  EXPECT_TRUE(Await([&] { return Serves("cheap-1") && Serves("cheap-2") && Serves("zone-a-t-spot-1"); }));
  EXPECT_TRUE(absl::IsResourceExhausted(provider_->List("zone-a/t/spot", 1)->shortage));
  EXPECT_TRUE(absl::IsNotFound(provider_->SetDesired("moon", 1, {}, 1)));
}

TEST_F(LocalTest, TheMarketTakesTheNewestWithoutNoticeAndWithAll) {
  Open();
  ASSERT_TRUE(provider_->SetDesired("cheap", 2, {}, 1).ok());
  ASSERT_TRUE(Await([&] { return Runs("cheap-1") && Runs("cheap-2"); }));
  ASSERT_TRUE(provider_->SetMarket("cheap", 1, 0).ok());
  EXPECT_TRUE(Await([&] { return !Runs("cheap-2") && !std::filesystem::exists(dir_ + "/nodes/cheap-2"); }));
  EXPECT_THAT(ProcessesOf(dir_ + "/nodes/cheap-2"), IsEmpty());
  EXPECT_TRUE(Runs("cheap-1"));
  ASSERT_TRUE(provider_->SetMarket("cheap", 2, std::nullopt).ok());
  EXPECT_TRUE(Await([&] { return Runs("cheap-3"); }));
}

TEST_F(LocalTest, ANoticeIsWrittenWhereTheWorkerLooks) {
  Open();
  ASSERT_TRUE(provider_->SetDesired("cheap", 1, {}, 1).ok());
  ASSERT_TRUE(Await([&] { return Runs("cheap-1"); }));
  ASSERT_TRUE(provider_->SetMarket("cheap", 0, 600).ok());
  const std::string file = dir_ + "/nodes/cheap-1/notice";
  EXPECT_TRUE(Await([&] { return std::filesystem::exists(file); }));
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  EXPECT_EQ(line, "600.000s the market of pool cheap shrank");
  EXPECT_EQ(provider_->List("cheap", 1)->machines.at(0).state, MachineState::kEnding);
}

TEST_F(LocalTest, MachinesOutliveTheCoordinatorAndNamesAreNeverUsedAgain) {
  Open();
  ASSERT_TRUE(provider_->SetDesired("cheap", 2, {}, 1).ok());
  ASSERT_TRUE(Await([&] { return Runs("cheap-1") && Runs("cheap-2"); }));
  ASSERT_TRUE(provider_->SetMarket("cheap", 3, std::nullopt).ok());
  provider_.reset();
  EXPECT_TRUE(Runs("cheap-1"));
  // The node cheap-2 is killed while no provider runs. The next provider must see that it is gone, and not use its name
  // again.
  KillNode(dir_ + "/nodes/cheap-2");
  Open();
  EXPECT_THAT(Nodes("cheap"), ElementsAre("cheap-1"));
  ASSERT_TRUE(absl::IsResourceExhausted(provider_->SetDesired("cheap", 4, {}, 1)));
  EXPECT_THAT(Nodes("cheap"), ElementsAre("cheap-1", "cheap-3", "cheap-4"));
}

TEST_F(LocalTest, ACheckpointServiceThatDiesIsRestarted) {
  Open();
  ASSERT_TRUE(provider_->SetDesired("cheap", 1, {}, 1).ok());
  const std::string folder = dir_ + "/nodes/cheap-1";
  ASSERT_TRUE(Await([&] { return Serves("cheap-1") && FindProgram(folder, "--dir").ok(); }));
  const auto before = FindProgram(folder, "--dir");
  ASSERT_TRUE(before->Signal(SIGKILL).ok());
  EXPECT_TRUE(Await([&] {
    const auto after = FindProgram(folder, "--dir");
    return after.ok() && after->identity() != before->identity();
  }));
}

TEST_F(LocalTest, AllEndWhereTheyAreAskedTo) {
  Open();
  ASSERT_TRUE(provider_->SetDesired("cheap", 2, {}, 1).ok());
  ASSERT_TRUE(Await([&] { return Runs("cheap-1") && Runs("cheap-2"); }));
  provider_->EndAll(0.2);
  EXPECT_THAT(ProcessesOf(dir_ + "/nodes/cheap-1"), IsEmpty());
  EXPECT_THAT(ProcessesOf(dir_ + "/nodes/cheap-2"), IsEmpty());
  EXPECT_THAT(Nodes("cheap"), IsEmpty());
}

TEST_F(LocalTest, ATraceIsPlayed) {
  options_.pools[0].trace = {.nodes = {2, 0}, .step_seconds = 2};
  Open();
  provider_->SetDesired("cheap", 2, {}, 1).IgnoreError();
  EXPECT_THAT(Nodes("cheap"), ElementsAre("cheap-1", "cheap-2"));
  EXPECT_TRUE(Await([&] { return Nodes("cheap").empty() && ProcessesOf(dir_ + "/nodes/cheap-1").empty(); }));
  EXPECT_TRUE(absl::IsResourceExhausted(provider_->SetDesired("cheap", 1, {}, 1)));
}

TEST_F(LocalTest, NamesThatWouldCollideAreRefused) {
  options_.pools = {{.pool = "a/b"}, {.pool = "a-b"}};
  EXPECT_THAT(std::string(LocalProvider::Open(options_).status().message()), HasSubstr("give it another name"));
}

}  // namespace
}  // namespace rekindle::fleet
