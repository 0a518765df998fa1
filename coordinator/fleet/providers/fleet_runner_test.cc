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

// Has what it is told to have, at once.
class FakeProvider final : public Provider {
 public:
  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>&, double) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    if (!refusal_.ok()) return refusal_;
    nodes_[pool] = nodes;
    asked_.push_back(nodes);
    return absl::OkStatus();
  }
  absl::StatusOr<Listing> List(const std::string& pool, double) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    Listing listing{.desired = nodes_[pool]};
    listing.machines.resize(static_cast<size_t>(nodes_[pool]));
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
  std::map<std::string, int> nodes_;
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
