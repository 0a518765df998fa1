#include "worker/agent/log_shipper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "worker/agent/log_testing.h"

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
                         const std::lock_guard lock(mutex_);
                         cancelled_ = true;
                         changed_.notify_all();
                       },
                   .connection =
                       [this] {
                         const std::lock_guard lock(mutex_);
                         return connection_;
                       }});
  }
  void StartTrainer(const std::string& name) {
    Write(name, "");
    shipper_->Start("n/0/" + name, "job", Path(name));
  }
  absl::StatusOr<v1::LogReply> Keep(const v1::LogReport& report) {
    std::unique_lock lock(mutex_);
    ++calls_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hangs_ || cancelled_; });
    if (cancelled_ || fails_) return absl::UnavailableError("away");
    v1::LogReply reply = keeper_.Keep(report);
    changed_.notify_all();
    if (loses_ && calls_ % 2 == 0) return absl::UnavailableError("the answer got lost");
    return reply;
  }
  // Changes how the coordinator is, and waits until `holds` does.
  template <typename Value>
  void Set(Value* what, int value) {
    const std::lock_guard lock(mutex_);
    *what = static_cast<Value>(value);
    changed_.notify_all();
  }
  bool Soon(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), holds);
  }
  std::vector<std::string>& Kept(const std::string& name) { return keeper_.logs["n/0/" + name].lines; }

  std::mutex mutex_;  // Guards all that follows.
  std::condition_variable changed_;
  Keeper keeper_;
  int calls_ = 0;
  int64_t connection_ = 1;
  bool fails_ = false;
  bool loses_ = false;
  bool hangs_ = false;
  bool cancelled_ = false;
  std::optional<LogShipper> shipper_;  // Ends first.
};

TEST_F(LogShipperTest, SendsWhatTrainersWriteWhileAnswersGetLost) {
  Start();
  Set(&loses_, true);
  StartTrainer("a");
  for (int i = 0; i < 200; ++i) Write("a", absl::StrCat(i, "\n"));
  EXPECT_TRUE(Soon([&] { return Kept("a").size() >= 200; }));
  Write("a", "the end");
  shipper_->End("n/0/a");
  EXPECT_TRUE(Soon([&] { return keeper_.logs["n/0/a"].last; }));
  ASSERT_EQ(Kept("a").size(), 201u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Kept("a")[static_cast<size_t>(i)], std::to_string(i));
}

TEST_F(LogShipperTest, GoesOnWhenTheCoordinatorIsBackAlsoAsAnotherOne) {
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  EXPECT_TRUE(Soon([&] { return Kept("a").size() == 1; }));
  Set(&fails_, true);
  Write("a", "two\n");
  int before = -1;
  EXPECT_TRUE(Soon([&] {
    if (before < 0) before = calls_;
    return calls_ > before + 2;
  })) << "it tries again and again";
  {
    const std::lock_guard lock(mutex_);
    keeper_ = {.process = "second"};
  }
  Set(&fails_, false);
  EXPECT_TRUE(Soon([&] { return Kept("a").size() == 2; }));
  EXPECT_THAT(Kept("a"), ElementsAre("one", "two"));
}

TEST_F(LogShipperTest, ACoordinatorThatComesBackWithNothingGetsLogsThatWereSentLongAgo) {
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  shipper_->End("n/0/a");
  EXPECT_TRUE(Soon([&] { return keeper_.logs["n/0/a"].last; }));
  {
    const std::lock_guard lock(mutex_);
    keeper_ = {.process = "second"};
    connection_ = 2;
  }
  EXPECT_TRUE(Soon([&] { return keeper_.logs["n/0/a"].last; }));
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(Kept("a"), ElementsAre("one"));
}

TEST_F(LogShipperTest, FinishWaitsForTheLastLines) {
  Start();
  StartTrainer("a");
  Write("a", "one\nlast words");
  shipper_->End("n/0/a");
  shipper_->Finish(20);
  const std::lock_guard lock(mutex_);
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
  shipper_.reset();  // It hangs in a call, which is cancelled.
  EXPECT_LT(common::SteadySeconds() - begun, 20);
}

TEST_F(LogShipperTest, ACallThatHangsHoldsUpNobodyElse) {
  Set(&hangs_, true);
  Start();
  StartTrainer("a");
  Write("a", "one\n");
  EXPECT_TRUE(Soon([this] { return calls_ > 0; }));
  const double begun = common::SteadySeconds();
  for (int i = 0; i < 1000; ++i) shipper_->End("n/0/a");
  EXPECT_LT(common::SteadySeconds() - begun, 1);
  Set(&hangs_, false);
  EXPECT_TRUE(Soon([&] { return keeper_.logs["n/0/a"].last; }));
}

}  // namespace
}  // namespace rekindle::agent
