#include "worker/agent/decisions/slot_health.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "common/agreed/exit_codes.h"

namespace rekindle::agent {
namespace {

using common::kExitContextLost;
using common::kExitDeviceGone;

std::string WordsOf(const SlotHealth& health, int slot) {
  const auto fault = health.faults().find(slot);
  return fault == health.faults().end() ? "" : fault->second.words;
}

TEST(SlotHealth, AGpuThatIsGoneTakesItsSlotOutWithTheDriversWords) {
  SlotHealth health;
  health.TrainerEnded(3, kExitDeviceGone, "GPU is lost", 100);
  EXPECT_TRUE(health.IsOut(3));
  EXPECT_FALSE(health.IsOut(2));
  EXPECT_EQ(WordsOf(health, 3), "GPU is lost");
  EXPECT_FALSE(health.faults().at(3).driver_says_so) << "so far only the trainer has said so";
}

TEST(SlotHealth, WithoutWordsThereIsStillAReason) {
  SlotHealth health;
  health.TrainerEnded(0, kExitDeviceGone, "", 100);
  EXPECT_EQ(WordsOf(health, 0), "its GPU failed");
}

TEST(SlotHealth, OtherEndsSayNothingOfTheGpu) {
  SlotHealth health;
  for (const int code : {0, 1, -9, common::kExitOutOfMemory}) health.TrainerEnded(0, code, "x", 100);
  EXPECT_FALSE(health.IsOut(0));
  EXPECT_TRUE(std::isinf(health.ask_at()));
}

TEST(SlotHealth, ALostContextIsForgivenOnce) {
  SlotHealth health;
  health.TrainerEnded(0, kExitContextLost, "illegal address", 100);
  EXPECT_FALSE(health.IsOut(0));
  health.TrainerEnded(0, kExitContextLost, "illegal address", 699.9);
  EXPECT_TRUE(health.IsOut(0));
}

TEST(SlotHealth, TwoLostContextsTenMinutesApartAreForgiven) {
  SlotHealth health;
  health.TrainerEnded(0, kExitContextLost, "x", 100);
  health.TrainerEnded(0, kExitContextLost, "x", 700);
  EXPECT_FALSE(health.IsOut(0));
  health.TrainerEnded(0, kExitContextLost, "x", 800);
  EXPECT_TRUE(health.IsOut(0));
}

TEST(SlotHealth, LostContextsOfTwoSlotsAreNotAdded) {
  SlotHealth health;
  health.TrainerEnded(0, kExitContextLost, "x", 100);
  health.TrainerEnded(1, kExitContextLost, "x", 101);
  EXPECT_TRUE(health.faults().empty());
}

TEST(SlotHealth, TheDriverIsAskedAtOnceAndTheSlotComesBackWhenItFindsNothingWrong) {
  SlotHealth health;
  health.TrainerEnded(0, kExitDeviceGone, "x", 100);
  EXPECT_EQ(health.ask_at(), 100);
  health.DriverSaid(0, {}, 101);
  EXPECT_TRUE(health.IsOut(0));
  EXPECT_EQ(health.ask_at(), 160);
  health.DriverSaid(0, {}, 160);
  EXPECT_FALSE(health.IsOut(0));
  EXPECT_TRUE(std::isinf(health.ask_at()));
}

TEST(SlotHealth, TheSlotStaysOutWhileTheDriverSeesAProblem) {
  SlotHealth health;
  health.DriverSaid(0, {.words = "GPU is lost", .driver_says_so = true}, 0);
  EXPECT_TRUE(health.faults().at(0).driver_says_so);
  EXPECT_EQ(health.ask_at(), 60);
  health.DriverSaid(0, {.words = "still lost", .driver_says_so = true}, 60);
  EXPECT_EQ(WordsOf(health, 0), "still lost");
  EXPECT_EQ(health.ask_at(), 180);
  health.DriverSaid(0, {}, 180);
  EXPECT_FALSE(health.IsOut(0));
}

TEST(SlotHealth, ADriverThatDoesNotAnswerChangesNothingAndIsAskedLater) {
  SlotHealth health;
  health.TrainerEnded(0, kExitDeviceGone, "x", 100);
  health.DriverWasSilent(130);
  EXPECT_EQ(WordsOf(health, 0), "x");
  EXPECT_FALSE(health.IsOut(1));
  EXPECT_EQ(health.ask_at(), 190);
}

TEST(SlotHealth, AfterEachFurtherFailureTheSlotIsOutTwiceAsLongUpToALimit) {
  SlotHealth health;
  double now = 0;
  for (const double wait : {60, 120, 240, 480, 960, 960}) {
    health.TrainerEnded(0, kExitDeviceGone, "x", now);
    health.DriverSaid(0, {}, now + 1);
    EXPECT_EQ(health.ask_at() - now, wait);
    now = health.ask_at();
    health.DriverSaid(0, {}, now);
    EXPECT_FALSE(health.IsOut(0));
  }
  // A slot that was long in use is trusted again.
  now += 960;
  health.TrainerEnded(0, kExitDeviceGone, "x", now);
  health.DriverSaid(0, {}, now + 1);
  EXPECT_EQ(health.ask_at() - now, 60);
}

TEST(SlotHealth, OneAnswerIsAboutAllSlotsAndBringsBackThoseThatWaitedLongEnough) {
  SlotHealth health;
  health.TrainerEnded(0, kExitDeviceGone, "x", 100);
  health.TrainerEnded(1, kExitDeviceGone, "x", 50);
  health.DriverSaid(0, {}, 110);
  health.DriverSaid(1, {}, 110);
  EXPECT_TRUE(health.IsOut(0));
  EXPECT_FALSE(health.IsOut(1));
}

}  // namespace
}  // namespace rekindle::agent
