#include "worker/agent/decisions/slot_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

Node WithDesired(Slot slot) {
  Node node;
  node.desired_known = true;
  node.slots[0] = std::move(slot);
  return node;
}

Slot Wanted(const std::string& job) { return {.wanted = job}; }
Slot Running(const std::string& job) { return {.running = RunningTrainer{.job_uid = job}}; }

std::vector<Action::Kind> Kinds(const Plan& plan) {
  std::vector<Action::Kind> kinds;
  for (const Action& action : plan.actions) kinds.push_back(action.kind);
  return kinds;
}

TEST(Reconcile, StartsWhatIsWantedAndMissing) {
  const Plan plan = Reconcile(WithDesired(Wanted("a")), {}, 100);
  EXPECT_THAT(plan.actions, ElementsAre(Action{Action::kStart, 0, "wanted here"}));
}

TEST(Reconcile, KeepsWhatIsWantedAndRuns) {
  Slot slot = Running("a");
  slot.wanted = "a";
  EXPECT_THAT(Reconcile(WithDesired(slot), {}, 100).actions, IsEmpty());
}

TEST(Reconcile, TouchesNothingBeforeTheFirstDirective) {
  Node node;
  node.slots[0] = Running("a");
  node.slots[1] = Slot{};
  EXPECT_THAT(Reconcile(node, {}, 100).actions, IsEmpty());
}

TEST(Reconcile, StopsWhatIsNotWanted) {
  const Plan plan = Reconcile(WithDesired(Running("a")), {}, 100);
  EXPECT_THAT(plan.actions, ElementsAre(Action{Action::kTerminate, 0, "no longer wanted here"}));
}

TEST(Reconcile, WhatTheCoordinatorDoesNotKnowIsLeftAlone) {
  Node node = WithDesired(Running("a"));
  node.left_alone = {"a"};
  EXPECT_THAT(Reconcile(node, {}, 100).actions, IsEmpty());
  node.slots[0].wanted = "b";
  EXPECT_THAT(Reconcile(node, {}, 100).actions, IsEmpty()) << "its slot is its own";
  node.slots[0].wanted.reset();
  node.slots[0].deaths = AfterExit(node.slots[0].deaths, *node.slots[0].running, 1, {}, 102);
  node.slots[0].running.reset();
  EXPECT_THAT(Reconcile(node, {}, 103).actions, IsEmpty()) << "nobody has asked for another";
  node.slots[0] = Running("a");
  node.stop_all = true;
  EXPECT_THAT(Kinds(Reconcile(node, {}, 104)), ElementsAre(Action::kTerminate));
}

TEST(Reconcile, AnotherJobWaitsForTheSlot) {
  Slot slot = Running("a");
  slot.wanted = "b";
  EXPECT_THAT(Kinds(Reconcile(WithDesired(slot), {}, 100)), ElementsAre(Action::kTerminate));
  slot.running->terminated_at = 100;
  EXPECT_THAT(Reconcile(WithDesired(slot), {}, 101).actions, IsEmpty());
  slot.deaths = AfterExit(slot.deaths, *slot.running, 0, {}, 102);
  slot.running.reset();
  EXPECT_THAT(Kinds(Reconcile(WithDesired(slot), {}, 102)), ElementsAre(Action::kStart));
}

TEST(Reconcile, KillsAfterTheGrace) {
  Slot slot = Running("a");
  slot.running->terminated_at = 100;
  const Policy policy = {.stop_grace_seconds = 3};
  Plan plan = Reconcile(WithDesired(slot), policy, 102);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.wake_at, 103);
  EXPECT_THAT(Kinds(Reconcile(WithDesired(slot), policy, 103)), ElementsAre(Action::kKill));
  slot.running->killed_at = 103;
  plan = Reconcile(WithDesired(slot), policy, 104);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.wake_at, 133) << "then it is stuck";
  EXPECT_EQ(Reconcile(WithDesired(slot), policy, 133).wake_at, std::numeric_limits<double>::infinity());
}

TEST(Reconcile, ATrainerThatSigkillDoesNotEndHoldsItsSlotAndIsStuck) {
  for (const bool ending : {false, true}) {
    Slot slot = Running("a");
    slot.running->killed_at = 100;
    slot.running->ending = ending;
    Node node = WithDesired(slot);
    node.slots[1] = Running("b");
    EXPECT_THAT(StuckSlots(node, {}, 129.9), IsEmpty());
    EXPECT_THAT(StuckSlots(node, {}, 130), ElementsAre(0));
    // Nothing starts in the slot, however long that takes.
    node.slots[0].wanted = "c";
    EXPECT_THAT(Kinds(Reconcile(node, {}, 1e6)), Not(Contains(Action::kStart)));
    node.slots[0].running.reset();
    EXPECT_THAT(StuckSlots(node, {}, 1e6), IsEmpty());
  }
}

TEST(Reconcile, OneToldToStopGoesEvenWhenWantedAgain) {
  Slot slot = Running("a");
  slot.running->terminated_at = 100;
  slot.wanted = "a";
  EXPECT_THAT(Kinds(Reconcile(WithDesired(slot), {.stop_grace_seconds = 1}, 101)), ElementsAre(Action::kKill));
}

TEST(Reconcile, DrainingStartsNothingAndStopsNothingWanted) {
  Node node = WithDesired(Wanted("a"));
  node.slots[1] = Running("b");
  node.slots[1].wanted = "b";
  node.draining = true;
  EXPECT_THAT(Reconcile(node, {}, 100).actions, IsEmpty());
  node.stop_all = true;
  EXPECT_THAT(Reconcile(node, {}, 100).actions, ElementsAre(Action{Action::kTerminate, 1, "the node stops"}));
}

TEST(Restart, FirstAtOnceThenWithGrowingDelays) {
  const Policy policy;
  DeathRow deaths;
  std::vector<double> delays;
  double now = 100;
  for (int i = 0; i < 8; ++i) {
    deaths = AfterExit(deaths, {.job_uid = "a", .started_at = now}, -9, policy, now + 1);
    now += 1;
    delays.push_back(deaths.not_before - now);
    now = deaths.not_before;
  }
  const double tolerance = 1e-9;
  const std::vector<double> expected = {0, 0.2, 0.5, 1, 2, 5, 5, 5};
  EXPECT_THAT(delays, ::testing::Pointwise(::testing::DoubleNear(tolerance), expected));
  Slot slot = Wanted("a");
  slot.deaths = deaths;
  EXPECT_THAT(Reconcile(WithDesired(slot), policy, now - 1).actions, IsEmpty());
  EXPECT_EQ(Reconcile(WithDesired(slot), policy, now - 1).wake_at, now);
  EXPECT_THAT(Reconcile(WithDesired(slot), policy, now).actions,
              ElementsAre(Action{Action::kStart, 0, "its trainer ended"}));
}

TEST(Restart, ALongLifeStartsANewRow) {
  DeathRow deaths = {.job_uid = "a", .quick_deaths = 5};
  deaths = AfterExit(deaths, {.job_uid = "a", .started_at = 100}, -9, {}, 131);
  EXPECT_EQ(deaths.quick_deaths, 1);
  EXPECT_EQ(deaths.not_before, 131);
}

TEST(Restart, AnotherJobHasNoHistory) {
  DeathRow deaths = {.job_uid = "a", .quick_deaths = 5, .not_before = 200};
  Slot slot = Wanted("b");
  slot.deaths = deaths;
  EXPECT_THAT(Kinds(Reconcile(WithDesired(slot), {}, 100)), ElementsAre(Action::kStart));
  deaths = AfterExit(deaths, {.job_uid = "b", .started_at = 100}, 1, {}, 101);
  EXPECT_EQ(deaths.quick_deaths, 1);
}

TEST(Restart, ACleanEndWaitsForTheCoordinator) {
  Slot slot = Wanted("a");
  slot.deaths = AfterExit({}, {.job_uid = "a", .started_at = 0}, 0, {}, 100);
  EXPECT_THAT(Reconcile(WithDesired(slot), {}, 1000).actions, IsEmpty());
  slot.deaths.awaits_acknowledgement = false;
  EXPECT_THAT(Kinds(Reconcile(WithDesired(slot), {}, 1000)), ElementsAre(Action::kStart));
}

TEST(Restart, AStopThatWasAskedForIsNoDeath) {
  const DeathRow deaths =
      AfterExit({}, {.job_uid = "a", .started_at = 99, .terminated_at = 100, .killed_at = 100}, -9, {}, 101);
  EXPECT_EQ(deaths.quick_deaths, 0);
  EXPECT_EQ(deaths.not_before, 101);
}

}  // namespace
}  // namespace rekindle::agent
