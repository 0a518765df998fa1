#include "worker/agent/program/lonely_end.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

class LonelyEndTest : public ::testing::Test {
 protected:
  // Gives `end` the answer to a request that was sent `seconds_ago`. The answer allows the machine 5 seconds without a
  // coordinator.
  static void Hear(LonelyEnd& end, double seconds_ago) {
    end.Heard(common::BootSeconds() - seconds_ago, 5, std::nullopt, /*keeps_spending=*/false);
  }

  common::TemporaryFolder temporary_;
  const NodeFolder folder_ = *NodeFolder::Open(temporary_.path(), 1);
};

TEST_F(LonelyEndTest, WithoutALimitItNeverComes) {
  LonelyEnd end(&folder_, "boot", 0);
  EXPECT_FALSE(end.IsDue({}));
  EXPECT_TRUE(std::isinf(end.SecondsToLook()));
}

TEST_F(LonelyEndTest, ItComesAfterTheTimeUnlessACoordinatorIsHeardOf) {
  LonelyEnd end(&folder_, "boot", 0);
  Hear(end, 1);
  EXPECT_FALSE(end.IsDue({}));
  EXPECT_LE(end.SecondsToLook(), 4);
  Hear(end, 10);
  EXPECT_FALSE(end.IsDue({.connected = true}));
  EXPECT_TRUE(end.IsDue({}));
}

TEST_F(LonelyEndTest, WhatIsNotSavedKeepsTheMachine) {
  LonelyEnd end(&folder_, "boot", 0);
  Hear(end, 10);
  EXPECT_FALSE(end.IsDue({.keeps_final_state = true}));
  EXPECT_FALSE(end.IsDue({.is_busy = true})) << "it may save what it has";
  EXPECT_LE(end.SecondsToLook(), 1);
  EXPECT_TRUE(end.IsDue({}));
}

TEST_F(LonelyEndTest, TheNextAgentGoesOnCounting) {
  {
    LonelyEnd end(&folder_, "boot", 0);
    Hear(end, 10);
  }
  EXPECT_TRUE(LonelyEnd(&folder_, "boot", 0).IsDue({}));
  LonelyEnd(&folder_, "boot", 0).Forget();
  EXPECT_FALSE(std::filesystem::exists(folder_.AloneFile()));
  EXPECT_FALSE(LonelyEnd(&folder_, "boot", 0).IsDue({}));
}

}  // namespace
}  // namespace rekindle::agent
