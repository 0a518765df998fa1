#include "worker/agent/logs/log_shipper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "worker/agent/testing/agent_log_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;

class LogShipperTest : public LogFolderTest {
 protected:
  void Start() {
    shipper_.emplace(LogShipper::Options{
        .folder = folder_, .period_seconds = 0.005, .backlog_seconds = 0.001, .longest_retry_seconds = 0.01});
    shipper_->Run({.send = [this](v1::LogReport report) { return Keep(report); },
                   .cancel =
                       [this] {
                         const common::MutexLock lock(mutex_);
                         cancelled_ = true;
                         changed_.NotifyAll();
                       },
                   .connection =
                       [this] {
                         const common::MutexLock lock(mutex_);
                         return connection_;
                       }});
  }
  void StartTrainer(const std::string& name) {
    Write(name, "");
    shipper_->Start("n/0/" + name, "job", Path(name));
  }
  absl::StatusOr<v1::LogReply> Keep(const v1::LogReport& report) {
    common::MutexLock lock(mutex_);
    ++calls_;
    changed_.NotifyAll();
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !hangs_ || cancelled_; });
    if (cancelled_ || fails_) return absl::UnavailableError("away");
    v1::LogReply reply = keeper_.Keep(report);
    changed_.NotifyAll();
    if (loses_ && calls_ % 2 == 0) return absl::UnavailableError("the answer got lost");
    return reply;
  }
  // Set() changes how the test's coordinator behaves. Soon() waits until `holds` returns true.
  template <typename Value>
  void Set(Value* what, int value) {
    const common::MutexLock lock(mutex_);
    *what = static_cast<Value>(value);
    changed_.NotifyAll();
  }
  bool Soon(const std::function<bool()>& holds) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::seconds(20), holds);
  }
  std::vector<std::string>& Kept(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return keeper_.logs["n/0/" + name].lines;
  }

  common::Mutex mutex_;
  common::CondVar changed_;
  Keeper keeper_ ABSL_GUARDED_BY(mutex_);
  int calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t connection_ ABSL_GUARDED_BY(mutex_) = 1;
  bool fails_ ABSL_GUARDED_BY(mutex_) = false;
  bool loses_ ABSL_GUARDED_BY(mutex_) = false;
  bool hangs_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // The shipper is the last member, so that it is destroyed before those that its thread uses.
  std::optional<LogShipper> shipper_;
};

TEST_F(LogShipperTest, SendsWhatTrainersWriteWhileAnswersGetLost) {
  Start();
  Set(&loses_, true);
  StartTrainer("a");
  for (int i = 0; i < 200; ++i) Write("a", absl::StrCat(i, "\n"));
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Kept("a").size() >= 200; }));
  Write("a", "the end");
  shipper_->End("n/0/a");
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return keeper_.logs["n/0/a"].last; }));
  const common::MutexLock lock(mutex_);
  ASSERT_EQ(Kept("a").size(), 201u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Kept("a")[static_cast<size_t>(i)], std::to_string(i));
}

TEST_F(LogShipperTest, GoesOnWhenTheCoordinatorIsBackAlsoAsAnotherOne) {
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Kept("a").size() == 1; }));
  Set(&fails_, true);
  Write("a", "two\n");
  int before = -1;
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (before < 0) before = calls_;
    return calls_ > before + 2;
  })) << "it tries again and again";
  {
    const common::MutexLock lock(mutex_);
    keeper_ = {.process = "second"};
  }
  Set(&fails_, false);
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return Kept("a").size() == 2; }));
  const common::MutexLock lock(mutex_);
  EXPECT_THAT(Kept("a"), ElementsAre("one", "two"));
}

TEST_F(LogShipperTest, ACoordinatorThatComesBackWithNothingGetsLogsThatWereSentLongAgo) {
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  shipper_->End("n/0/a");
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return keeper_.logs["n/0/a"].last; }));
  {
    const common::MutexLock lock(mutex_);
    keeper_ = {.process = "second"};
    connection_ = 2;
  }
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return keeper_.logs["n/0/a"].last; }));
  const common::MutexLock lock(mutex_);
  EXPECT_THAT(Kept("a"), ElementsAre("one"));
}

TEST_F(LogShipperTest, FinishWaitsForTheLastLines) {
  Start();
  StartTrainer("a");
  Write("a", "one\nlast words");
  shipper_->End("n/0/a");
  shipper_->Finish(20);
  const common::MutexLock lock(mutex_);
  EXPECT_THAT(Kept("a"), ElementsAre("one", "last words"));
  EXPECT_TRUE(keeper_.logs["n/0/a"].last);
}

TEST_F(LogShipperTest, FinishWaitsForNobodyWhoIsAwayOrHangs) {
  Set(&connection_, 0);
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  shipper_->End("n/0/a");
  const double begun = common::SteadySeconds();
  shipper_->Finish(100);
  Set(&hangs_, true);
  Set(&connection_, 1);
  shipper_->Finish(0.05);
  // The shipper hangs in a call to the coordinator, which its destructor cancels.
  shipper_.reset();
  EXPECT_LT(common::SteadySeconds() - begun, 20);
}

TEST_F(LogShipperTest, ACallThatHangsHoldsUpNobodyElse) {
  Set(&hangs_, true);
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  EXPECT_TRUE(Soon([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return calls_ > 0; }));
  const double begun = common::SteadySeconds();
  for (int i = 0; i < 1000; ++i) shipper_->End("n/0/a");
  EXPECT_LT(common::SteadySeconds() - begun, 1);
  Set(&hangs_, false);
  EXPECT_TRUE(Soon([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return keeper_.logs["n/0/a"].last; }));
}

}  // namespace
}  // namespace rekindle::agent
