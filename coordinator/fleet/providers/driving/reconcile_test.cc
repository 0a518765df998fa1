#include "coordinator/fleet/providers/testing/reconcile_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

using core::PoolTrouble;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ReconcileTest, ListsBeforeItOrders) {
  pool_.Order(Want(2), now_);
  EXPECT_FALSE(Due().set);
  const auto first = Listed(Has(0, 0));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->running, 0);
  const auto next = Due();
  EXPECT_TRUE(next.set);
  EXPECT_EQ(next.nodes, 2);
  EXPECT_EQ(now_, 1000);
  // An accepted SetDesired alone is not reported, because no machine has changed yet.
  EXPECT_FALSE(Set(absl::OkStatus()));
  EXPECT_FALSE(Due().set);
  const auto report = Listed(Has(2, 2));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->running, 2);
  EXPECT_THAT(Names(*report), ElementsAre("n0", "n1"));
  EXPECT_EQ(report->trouble, PoolTrouble::kNone);
  EXPECT_EQ(pool_.next().at, now_ + 30);
  EXPECT_FALSE(Listed(Has(2, 2)));
}

TEST_F(ReconcileTest, ANewerOrderReplacesAnOlderOneEvenWhileThatIsAskedFor) {
  pool_.Order(Want(5), now_);
  Listed(Has(0));
  const auto asked = Due();
  pool_.Order(Want(1, {"n3"}), now_);
  pool_.Set(asked, absl::OkStatus(), now_, 0.5);
  const auto next = Due();
  EXPECT_TRUE(next.set);
  EXPECT_EQ(next.nodes, 1);
  EXPECT_THAT(next.release, ElementsAre("n3"));
}

TEST_F(ReconcileTest, EveryOrderIsAnswered) {
  pool_.Order(Want(0), now_);
  EXPECT_TRUE(Listed(Has(0, 0)));
  Due();
  Set(absl::OkStatus());
  Listed(Has(0, 0));
  pool_.Order(Want(0), now_);
  // After a repeated order the next listing comes sooner than usual but not at once, because somebody may repeat the
  // order for ever.
  EXPECT_EQ(pool_.next().at, now_ + 10);
  Due();
  EXPECT_TRUE(Listed(Has(0, 0)));
}

TEST_F(ReconcileTest, ARefusalThatWasDoneAfterAllIsOver) {
  pool_.Order(Want(2), now_);
  Listed(Has(0, 0));
  Due();
  Set(absl::ResourceExhaustedError("1 of 2"));
  const auto report = Listed(Has(2, 2));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trouble, PoolTrouble::kNone);
  EXPECT_FALSE(pool_.next().set);
}

TEST_F(ReconcileTest, ARefusalIsReportedAndTriedAgainEverMoreSlowly) {
  pool_.Order(Want(2), now_);
  Listed(Has(0, 0));
  double pause = 0;
  for (int i = 0; i < 12; ++i) {
    while (!Due().set) Listed(Has(0, 0));
    Set(absl::ResourceExhaustedError("no c7i in zone a"));
    const auto report = Listed(Has(0, 0));
    if (i == 0) {
      ASSERT_TRUE(report);
      EXPECT_EQ(report->trouble, PoolTrouble::kNoCapacity);
      EXPECT_EQ(report->error, "no c7i in zone a");
    }
    const double begun = now_;
    while (!Due().set) Listed(Has(0, 0));
    EXPECT_GE(now_ - begun, pause);
    EXPECT_LE(now_ - begun, 300);
    pause = std::min(200.0, now_ - begun);
  }
  EXPECT_EQ(pause, 200);
}

TEST_F(ReconcileTest, ARefusalOfAPartIsReportedWithWhatWasGranted) {
  pool_.Order(Want(4), now_);
  Listed(Has(0, 0));
  Due();
  EXPECT_FALSE(Set(absl::ResourceExhaustedError("2 of 4")));
  EXPECT_FALSE(Due().set) << "a listing comes first";
  const auto report = Listed(Has(2, 2));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->running, 2);
  EXPECT_EQ(report->trouble, PoolTrouble::kNoCapacity);
}

TEST_F(ReconcileTest, ANewOrderIsTriedAtOnceAfterARefusal) {
  pool_.Order(Want(9), now_);
  Listed(Has(4, 4));
  Due();
  Set(absl::ResourceExhaustedError("quota"));
  pool_.Order(Want(0), now_);
  const auto next = pool_.next();
  EXPECT_TRUE(next.set);
  EXPECT_EQ(next.at, now_);
}

TEST_F(ReconcileTest, RetryAfterIsHonouredWhateverIsOrdered) {
  pool_.Order(Want(2), now_);
  Listed(Has(0));
  Due();
  const auto report = Set(Throttled("slow down", 120));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trouble, PoolTrouble::kThrottled);
  EXPECT_EQ(report->retry_after, 120);
  pool_.Order(Want(1), now_);
  EXPECT_EQ(pool_.next().at, now_ + 120);
}

TEST_F(ReconcileTest, OneThatSaysYesAndGivesNothingIsFoundOut) {
  pool_.Order(Want(3), now_);
  Listed(Has(1, 1));
  Due();
  Set(absl::OkStatus());
  std::optional<core::PoolReported> report;
  const double begun = now_;
  while (!report || report->trouble == PoolTrouble::kNone) {
    ASSERT_LT(now_, begun + 400);
    ASSERT_FALSE(Due().set);
    report = Listed(Has(1, 3));
  }
  EXPECT_GT(now_ - begun, 300);
  EXPECT_EQ(report->trouble, PoolTrouble::kNoCapacity);
  EXPECT_THAT(report->error, HasSubstr("1 of 3 nodes run, though the provider has not refused them"));
  Due();
  report = Listed(Has(3, 3));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trouble, PoolTrouble::kNone);
}

TEST_F(ReconcileTest, AShortageThatTheProviderTellsOfIsReportedAtOnce) {
  pool_.Order(Want(3), now_);
  Listed(Has(1, 1));
  Due();
  Set(absl::OkStatus());
  Due();
  Listing listing = Has(1, 3);
  listing.shortage = absl::ResourceExhaustedError("InsufficientInstanceCapacity");
  const auto report = Listed(listing);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->trouble, PoolTrouble::kNoCapacity);
}

// The reconciler looks only for nodes that the provider listed at least once, because any other node may have named the
// pool by mistake when it registered.
TEST_F(ReconcileTest, MachinesThatHaveEndedAreReportedWhereTheyAreLookedFor) {
  Listing both = Has(2, 2);
  both.machines[0].node = "a";
  both.machines[1].node = "b";
  pool_.Order(Want(2), now_);
  Listed(both);
  Due();
  Set(absl::OkStatus());
  Due();
  Listed(both);
  EXPECT_EQ(pool_.next().at, now_ + 30);

  core::PoolOrder order = Want(2);
  order.look_for = {"a", "stranger"};
  pool_.Order(order, now_);
  EXPECT_FALSE(pool_.next().set) << "the order itself is the same";
  EXPECT_EQ(pool_.next().at, now_);
  EXPECT_THAT(pool_.next().look_for, testing::ElementsAre("a"));
  Listing one = both;
  one.machines.erase(one.machines.begin());
  // A machine that is no longer listed has left the pool, but may still run, so it is not reported as ended.
  auto report = Listed(one);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->ended, testing::IsEmpty());
  one.ended = {"a", "never asked"};
  report = Listed(one);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->ended, testing::ElementsAre("a"));
}

TEST_F(ReconcileTest, WhatSomebodyElseChangesIsSetAgain) {
  pool_.Order(Want(2), now_);
  Listed(Has(2, 0));
  Due();
  Set(absl::OkStatus());
  Due();
  Listed(Has(2, 2));
  Due();
  Listed(Has(2, 7));
  EXPECT_TRUE(Due().set);
}

TEST_F(ReconcileTest, AListingThatFailsChangesNothingButTheReport) {
  Listed(Has(2, 2));
  Due();
  const auto report = Listed(absl::PermissionDeniedError("allow autoscaling:DescribeAutoScalingGroups"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->running, 2);
  EXPECT_EQ(report->trouble, PoolTrouble::kFailed);
  pool_.Order(Want(4), now_);
  EXPECT_TRUE(Due().set);
  Listing many;
  many.machines.resize(kMaxMachines + 1);
  EXPECT_THAT(Listed(many)->error, HasSubstr("100001 machines"));
}

TEST_F(ReconcileTest, TheLeastIsKeptBeforeAnyOrderAndTheMostIsNeverCrossed) {
  PoolReconciler kept({.pool = "p", .min = 2, .max = 4}, now_);
  EXPECT_FALSE(kept.next().set);
  kept.Listed(Has(1), now_, 0);
  // A machine that runs before the first order may belong to another cluster, so no machines are asked for yet.
  EXPECT_FALSE(kept.next().set);
  kept.Listed(Has(0), now_, 0);
  EXPECT_TRUE(kept.next().set);
  EXPECT_EQ(kept.next().nodes, 2);
  kept.Order(Want(0), now_);
  EXPECT_EQ(kept.next().nodes, 2);
  kept.Order(Want(9), now_);
  EXPECT_EQ(kept.next().nodes, 4);
}

TEST_F(ReconcileTest, WhatEndsNoLongerCounts) {
  Listing listing = Has(2, 1);
  listing.machines[1].state = MachineState::kEnding;
  const auto report = Listed(listing);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->running, 1);
  EXPECT_THAT(Names(*report), ElementsAre("n0"));
}

TEST_F(ReconcileTest, WhatAnErrorSaysIsBoundedAndPrintable) {
  const auto report = Listed(absl::UnavailableError("\x1b[2J" + std::string(10'000, 'x')));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->error.size(), 500u);
  EXPECT_EQ(report->error[0], '?');
}

}  // namespace
}  // namespace rekindle::fleet
