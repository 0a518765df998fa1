// These tests check which machines of a pool end, by name, and which are left alone.
#include "coordinator/fleet/providers/testing/reconcile_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;

TEST_F(ReconcileTest, WhatNeverRegisteredEndsByNameAndAnotherComes) {
  pool_.Order(Want(3), now_);
  Listed(Has(3, 3));
  Due();
  Set(absl::OkStatus());
  Due();
  Listed(Has(3, 3));
  core::PoolOrder order = Want(3);
  order.end = {"n1", "gone before"};
  pool_.Order(order, now_);
  EXPECT_FALSE(Due().set) << "what is there now decides how many stay";
  Listed(Has(4, 4));
  auto next = Due();
  ASSERT_TRUE(next.set);
  EXPECT_EQ(next.nodes, 3);
  EXPECT_THAT(next.release, ElementsAre("n1"));
  Set(absl::OkStatus());
  Due();
  Listing ends = Has(4, 3);
  ends.machines[1].state = MachineState::kEnding;
  Listed(ends);
  EXPECT_FALSE(Due().set) << "so many are wanted";
  // Four machines are ordered and three run. The machine of n2 never registered, so it has to end: the capacity is
  // first lowered to two, and raised to four once that machine has gone.
  order = Want(4);
  order.end = {"n2"};
  pool_.Order(order, now_);
  Due();
  Listed(Has(3, 3));
  next = Due();
  EXPECT_EQ(next.nodes, 2);
  EXPECT_THAT(next.release, ElementsAre("n2"));
  Set(absl::OkStatus());
  Due();
  Listed(Has(2, 2));
  next = Due();
  ASSERT_TRUE(next.set);
  EXPECT_EQ(next.nodes, 4);
  EXPECT_THAT(next.release, testing::IsEmpty());
}

TEST_F(ReconcileTest, OneThatStaysAlthoughItWasEndedIsNotAskedForWithoutAPause) {
  core::PoolOrder order = Want(2);
  order.end = {"n1"};
  pool_.Order(order, now_);
  Listed(Has(2));
  Due();
  Set(absl::OkStatus());
  const double begun = now_;
  int asked = 0;
  while (now_ < begun + 100) {
    const auto next = Due();
    asked += next.set;
    next.set ? (void)Set(absl::OkStatus()) : (void)Listed(Has(2));
  }
  EXPECT_GT(asked, 5);
  EXPECT_LT(asked, 15);
}

TEST_F(ReconcileTest, AProviderThatEndsOthersInsteadIsNotAskedToEndSome) {
  PoolReconciler pool({.pool = "p", .max = 10, .chooses_what_ends = false}, now_);
  core::PoolOrder order = Want(2);
  order.end = {"n0"};
  pool.Order(order, now_);
  pool.Listed(Has(2, 2), now_, 0);
  EXPECT_EQ(pool.next().nodes, 2);
}

TEST_F(ReconcileTest, AfterARestartNothingEndsUntilNodesHadTimeToReturn) {
  core::PoolOrder order = Want(1);
  order.surplus = core::Surplus::kStays;
  pool_.Order(order, now_);
  Listed(Has(3, 3));
  EXPECT_FALSE(Due().set);
  Listed(Has(0, 0));
  EXPECT_TRUE(Due().set) << "more may come";
  EXPECT_EQ(pool_.next().nodes, 1);
  Listed(Has(3, 3));
  order.surplus = core::Surplus::kEnds;
  pool_.Order(order, now_);
  EXPECT_EQ(Due().nodes, 1);
}

TEST_F(ReconcileTest, WhatAnotherClusterOrderedIsLeftAlone) {
  EXPECT_TRUE(Listed(Has(2, 5))->not_ours);
  core::PoolOrder order = Want(0);
  order.surplus = core::Surplus::kIsOthers;
  pool_.Order(order, now_);
  EXPECT_FALSE(Due().set);
  EXPECT_TRUE(Listed(Has(2, 5))->not_ours);
  order.nodes = 9;
  pool_.Order(order, now_);
  Due();
  Listed(Has(2, 5));
  EXPECT_FALSE(Due().set);
  const auto report = Listed(Has(0, 0));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->not_ours);
  EXPECT_EQ(Due().nodes, 9);
  Set(absl::OkStatus());
  Due();
  EXPECT_FALSE(Listed(Has(4, 9))->not_ours) << "this process ordered them";
}

TEST_F(ReconcileTest, WhatRunsIsToldWithSinceWhenAndBeforeAListingNothingIs) {
  EXPECT_FALSE(Listed(absl::UnavailableError("later"))->listed);
  Due();
  Listing listing = Has(2, 2);
  listing.machines[0].since = 500;
  listing.machines[1].state = MachineState::kStarting;
  auto report = Listed(listing);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->listed);
  EXPECT_THAT(report->machines,
              ElementsAre(core::PoolMachine{"i-n0", "n0", true, 500}, core::PoolMachine{"i-n1", "n1", false, 0}));
  listing.machines[1].state = MachineState::kRunning;
  EXPECT_TRUE(Listed(listing)) << "that it runs now is news";
}

}  // namespace
}  // namespace rekindle::fleet
