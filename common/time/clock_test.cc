#include "common/time/clock.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>

namespace rekindle::common {
namespace {

// `kTolerance` seconds may pass between two readings on a busy machine.
constexpr double kTolerance = 60;

class WallClock : public testing::Test {
 protected:
  ~WallClock() override { unsetenv("REKINDLE_TEST_CLOCK"); }
  void Write(const std::string& text) { std::ofstream(path_, std::ios::trunc) << text; }
  double Shift() { return WallSeconds() - static_cast<double>(time(nullptr)); }

  const std::string path_ = testing::TempDir() + "clock." + std::to_string(getpid());
};

TEST_F(WallClock, IsTheMachinesUnlessATestSaysSoTwice) {
  Write("a test shifts the wall clock by 7200 s\n");
  EXPECT_NEAR(Shift(), 0, kTolerance);
  setenv("REKINDLE_TEST_CLOCK", (path_ + ".missing").c_str(), 1);
  EXPECT_NEAR(Shift(), 0, kTolerance);
  setenv("REKINDLE_TEST_CLOCK", path_.c_str(), 1);
  EXPECT_NEAR(Shift(), 7200, kTolerance);
  for (const char* other : {"", "7200\n", "a test shifts the wall clock\n"}) {
    Write(other);
    EXPECT_NEAR(Shift(), 0, kTolerance) << other;
  }
}

TEST_F(WallClock, FollowsItsFileWhileTheProgramRuns) {
  setenv("REKINDLE_TEST_CLOCK", path_.c_str(), 1);
  Write("a test shifts the wall clock by -86400 s\n");
  EXPECT_NEAR(Shift(), -86400, kTolerance);
  const double before = SteadySeconds();
  Write("a test shifts the wall clock by 3600 s\n");
  EXPECT_NEAR(Shift(), 3600, kTolerance);
  EXPECT_NEAR(SteadySeconds(), before, kTolerance);
}

}  // namespace
}  // namespace rekindle::common
