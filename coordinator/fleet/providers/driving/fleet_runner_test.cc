// These tests run accounts side by side, with providers that hang or refuse.
#include "coordinator/fleet/providers/driving/fleet_runner.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;

// A FakeProvider has at once the machines that it was asked for. Where fewer are wanted, the machines of `release` end
// first.
class FakeProvider final : public Provider {
 public:
  absl::Status SetDesired(const std::string& pool, int nodes, const std::vector<std::string>& release,
                          double) override {
    common::MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !hangs_; });
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
    common::MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !hangs_; });
    Listing listing{.desired = static_cast<int>(machines_[pool].size())};
    for (const std::string& name : machines_[pool]) listing.machines.push_back({.id = name, .node = name});
    return listing;
  }

  void Hang(bool hangs) {
    const common::MutexLock lock(mutex_);
    hangs_ = hangs;
    changed_.NotifyAll();
  }
  void Refuse(const absl::Status& refusal) {
    const common::MutexLock lock(mutex_);
    refusal_ = refusal;
  }
  std::vector<int> asked() {
    const common::MutexLock lock(mutex_);
    return asked_;
  }

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::string>> machines_ ABSL_GUARDED_BY(mutex_);
  int made_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<int> asked_ ABSL_GUARDED_BY(mutex_);
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
      const common::MutexLock lock(mutex_);
      reports_[report.pool] = report;
      changed_.NotifyAll();
    };
  }
  bool Await(const std::string& pool, const std::function<bool(const core::PoolReported&)>& is) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(20), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return reports_.count(pool) > 0 && is(reports_[pool]);
    });
  }
  bool AwaitRunning(const std::string& pool, int nodes) {
    return Await(pool, [nodes](const core::PoolReported& r) { return r.running == nodes; });
  }

  common::Mutex mutex_;
  common::CondVar changed_;
  std::map<std::string, core::PoolReported> reports_ ABSL_GUARDED_BY(mutex_);
  const std::shared_ptr<FakeProvider> a_ = std::make_shared<FakeProvider>();
  const std::shared_ptr<FakeProvider> b_ = std::make_shared<FakeProvider>();
};

TEST_F(FleetRunnerTest, OneThatHangsHoldsUpNobodyElse) {
  a_->Hang(true);
  FleetRunner runner({MakeAccount("a", a_), MakeAccount("b", b_)}, Reports());
  runner.Order({.pool = "a", .nodes = 2});
  runner.Order({.pool = "b", .nodes = 3});
  EXPECT_TRUE(AwaitRunning("b", 3));
  // The second order of pool "a" replaces the first one, which the provider was never asked for.
  runner.Order({.pool = "a", .nodes = 1});
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
  // A call that ends after Stop has returned is not reported.
  a_->Hang(false);
  const common::MutexLock lock(mutex_);
  EXPECT_TRUE(reports_.empty());
}

}  // namespace
}  // namespace rekindle::fleet
