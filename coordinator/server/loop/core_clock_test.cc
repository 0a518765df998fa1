#include "coordinator/server/loop/core_clock.h"

#include <gtest/gtest.h>

namespace rekindle::coordinator {
namespace {

// The clocks show what the test sets.
class CoreClockTest : public testing::Test {
 protected:
  void Pass(double seconds) {
    steady_ += seconds;
    boot_ += seconds;
    wall_ += seconds;
  }

  double steady_ = 100;
  double boot_ = 150;
  double wall_ = 1e9;
  CoreClock clock_{
      {.steady = [this] { return steady_; }, .boot = [this] { return boot_; }, .wall = [this] { return wall_; }}};
};

TEST_F(CoreClockTest, TheCoreIsToldNothingWhileTimePasses) {
  EXPECT_EQ(clock_.Begin(), 1e9 - 100);
  Pass(10);
  EXPECT_FALSE(clock_.Follow());
  EXPECT_EQ(clock_.CoreNow(), 110);
  EXPECT_EQ(clock_.UnixNow(), 1e9 + 10);
}

TEST_F(CoreClockTest, ItStandsStillWhileItIsStoppedAndIsBehindThen) {
  clock_.Begin();
  clock_.StandStill();
  Pass(30);
  EXPECT_EQ(clock_.CoreNow(), 100);
  clock_.GoOn();
  Pass(1);
  EXPECT_EQ(clock_.CoreNow(), 101);
  EXPECT_EQ(clock_.When(101), steady_);
  const auto told = clock_.Follow();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->stood_still, 30);
  EXPECT_EQ(told->wall_offset, 1e9 - 100 + 30);
  EXPECT_FALSE(clock_.Follow());
}

TEST_F(CoreClockTest, SleepIsToldOnce) {
  clock_.Begin();
  boot_ += 3600;
  wall_ += 3600;
  const auto told = clock_.Follow();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->stood_still, 3600);
  EXPECT_EQ(clock_.CoreNow(), 100);
  EXPECT_EQ(clock_.UnixNow(), 1e9 + 3600);
  EXPECT_FALSE(clock_.Follow());
}

TEST_F(CoreClockTest, AWallClockThatIsSetIsToldButNotASmallCorrection) {
  clock_.Begin();
  wall_ += 0.05;
  EXPECT_FALSE(clock_.Follow());
  wall_ -= 60;
  const auto told = clock_.Follow();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->stood_still, 0);
}

}  // namespace
}  // namespace rekindle::coordinator
