// Accounts side by side, with providers that hang, refuse and lie.
#include "coordinator/fleet/providers/fleet_runner.h"

#include <condition_variable>
#include <functional>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;

// Has what it is told to have, at once; where fewer are wanted those that are named go first.
class FakeProvider final : public Provider {
 public:
  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    if (!refusal_.ok()) return refusal_;
    std::vector<std::string>& machines = machines_[pool];
    const auto wanted = static_cast<size_t>(nodes);
    for (const std::string& name : release) {
      if (machines.size() > wanted) std::erase(machines, name);
    }
    if (machines.size() > wanted) machines.resize(wanted);
    while (machines.size() < wanted) machines.push_back("n" + std::to_string(++made_));
    asked_.push_back(nodes);
    return absl::OkStatus();
  }
  absl::StatusOr<Listing> List(const std::string& pool, double) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    Listing listing{.desired = static_cast<int>(machines_[pool].size())};
    for (const std::string& name : machines_[pool]) listing.machines.push_back({.id = name, .node = name});
    return listing;
  }

  void Hang(bool hangs) {
    const std::lock_guard lock(mutex_);
    hangs_ = hangs;
    changed_.notify_all();
  }
  void Refuse(const absl::Status& refusal) {
    const std::lock_guard lock(mutex_);
    refusal_ = refusal;
  }
  std::vector<int> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hangs_ = false;
  absl::Status refusal_;
  std::map<std::string, std::vector<std::string>> machines_;
  int made_ = 0;
  std::vector<int> asked_;
};

class FleetRunnerTest : public testing::Test {
 protected:
  Account MakeAccount(const std::string& pool, const std::shared_ptr<FakeProvider>& provider) {
    ReconcileOptions options{.pool = pool, .poll_seconds = 0.05};
    options.backoff = {.first_seconds = 0.01, .longest_seconds = 0.02};
    return {.name = pool, .provider = provider, .pools = {options}};
  }
  FleetRunner::Report Reports() {
    return [this](const core::PoolReported& report) {
      const std::lock_guard lock(mutex_);
      reports_[report.pool] = report;
      changed_.notify_all();
    };
  }
  bool Await(const std::string& pool, const std::function<bool(const core::PoolReported&)>& is) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20),
                             [&] { return reports_.count(pool) > 0 && is(reports_[pool]); });
  }
  bool AwaitRunning(const std::string& pool, int nodes) {
    return Await(pool, [nodes](const core::PoolReported& r) { return r.running == nodes; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, core::PoolReported> reports_;
  const std::shared_ptr<FakeProvider> a_ = std::make_shared<FakeProvider>();
  const std::shared_ptr<FakeProvider> b_ = std::make_shared<FakeProvider>();
};

TEST_F(FleetRunnerTest, OneThatHangsHoldsUpNobodyElse) {
  a_->Hang(true);
  FleetRunner runner({MakeAccount("a", a_), MakeAccount("b", b_)}, Reports());
  runner.Order({.pool = "a", .nodes = 2});
  runner.Order({.pool = "b", .nodes = 3});
  EXPECT_TRUE(AwaitRunning("b", 3));
  runner.Order({.pool = "a", .nodes = 1});  // Replaces the first one, which was never asked for.
  a_->Hang(false);
  EXPECT_TRUE(AwaitRunning("a", 1));
  EXPECT_THAT(a_->asked(), ElementsAre(1));
}

TEST_F(FleetRunnerTest, ARefusalIsReportedAndTriedAgain) {
  a_->Refuse(absl::ResourceExhaustedError("none left"));
  FleetRunner runner({MakeAccount("a", a_)}, Reports());
  runner.Order({.pool = "a", .nodes = 2});
  EXPECT_TRUE(Await("a", [](const auto& r) { return r.trouble == core::PoolTrouble::kNoCapacity; }));
  a_->Refuse(absl::OkStatus());
  EXPECT_TRUE(AwaitRunning("a", 2));
}

TEST_F(FleetRunnerTest, AMachineThatNeverRegisteredIsReplacedAndNoOther) {
  FleetRunner runner({MakeAccount("a", a_)}, Reports());
  runner.Order({.pool = "a", .nodes = 3});
  EXPECT_TRUE(AwaitRunning("a", 3));
  runner.Order({.pool = "a", .nodes = 3, .end = {"n2"}});
  EXPECT_TRUE(Await("a", [](const auto& report) {
    std::vector<std::string> names;
    for (const core::PoolMachine& machine : report.machines) names.push_back(machine.node);
    return names == std::vector<std::string>{"n1", "n3", "n4"};
  }));
}

TEST_F(FleetRunnerTest, AnOrderOfAPoolThatNobodyProvidesHarmsNobody) {
  FleetRunner runner({MakeAccount("a", a_)}, Reports());
  runner.Order({.pool = "moon", .nodes = 2});
  runner.Order({.pool = "a", .nodes = 1});
  EXPECT_TRUE(AwaitRunning("a", 1));
}

TEST_F(FleetRunnerTest, StopsWhileACallHangs) {
  a_->Hang(true);
  const double begun = common::SteadySeconds();
  {
    FleetRunner runner({MakeAccount("a", a_)}, Reports());
    runner.Order({.pool = "a", .nodes = 2});
  }
  EXPECT_LT(common::SteadySeconds() - begun, 10);
  a_->Hang(false);  // The call ends after all, and is told to nobody.
  const std::lock_guard lock(mutex_);
  EXPECT_TRUE(reports_.empty());
}

}  // namespace
}  // namespace rekindle::fleet
