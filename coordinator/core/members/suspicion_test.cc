#include "coordinator/core/members/suspicion.h"

#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

constexpr auto kClosed = v1::Accusation::CLOSED;
constexpr auto kTimeout = v1::Accusation::TIMEOUT;
constexpr auto kUnreachable = v1::Accusation::UNREACHABLE;

v1::Membership Three() {
  v1::Membership membership;
  int begin = 0;
  for (const char* name : {"a/0/1", "b/0/1", "c/0/1"}) {
    v1::Member* member = membership.add_members();
    member->set_rank(membership.members_size() - 1);
    member->set_trainer(name);
    member->set_begin(begin);
    member->set_end(begin += 2);
  }
  return membership;
}

TEST(PrimaryCharges, ClosedSpreadsAndIsBelievedOfTheFirstOnly) {
  const std::vector<Charge> charges = {{"b/0/1", "c/0/1", kClosed}, {"a/0/1", "b/0/1", kClosed}};
  const auto primary = PrimaryCharges(charges, "a/0/1");
  ASSERT_EQ(primary.size(), 1u);
  EXPECT_EQ(primary[0].by, "a/0/1");
  // The rank that stopped first accuses nobody, so it is not a lost connection that made it stop.
  EXPECT_TRUE(PrimaryCharges(charges, "c/0/1").empty());
}

TEST(PrimaryCharges, UnreachableBeatsTimeoutBeatsClosed) {
  EXPECT_EQ(PrimaryCharges({{"a", "b", kClosed}, {"a", "c", kTimeout}}, "a")[0].kind, kTimeout);
  EXPECT_EQ(PrimaryCharges({{"a", "b", kTimeout}, {"a", "c", kUnreachable}}, "b")[0].kind, kUnreachable);
  EXPECT_TRUE(PrimaryCharges({}, "a").empty());
}

TEST(CountFailure, TheFirstTimeNobodyLeaves) {
  v1::Suspicions suspicions;
  EXPECT_FALSE(CountFailure(suspicions, {{"a/0/1", "c/0/1", kTimeout}}, Three()));
  EXPECT_EQ(suspicions.pairs_size(), 1);
}

TEST(CountFailure, TheSecondTimeTheOneThatMoreAccuseLeaves) {
  v1::Suspicions suspicions;
  const std::vector<Charge> charges = {{"b/0/1", "a/0/1", kTimeout}, {"c/0/1", "a/0/1", kTimeout}};
  CountFailure(suspicions, charges, Three());
  const auto removal = CountFailure(suspicions, charges, Three());
  ASSERT_TRUE(removal);
  EXPECT_EQ(removal->trainer, "a/0/1");
  EXPECT_NE(removal->reason.find("accused by 2"), std::string::npos) << removal->reason;
}

TEST(CountFailure, ThenFewerMicroBatchesThenTheHigherRank) {
  v1::Suspicions suspicions;
  const std::vector<Charge> charges = {{"a/0/1", "c/0/1", kTimeout}, {"c/0/1", "a/0/1", kTimeout}};
  CountFailure(suspicions, charges, Three());
  v1::Suspicions again = suspicions;
  EXPECT_EQ(CountFailure(suspicions, charges, Three())->trainer, "c/0/1");
  v1::Membership uneven = Three();
  uneven.mutable_members(0)->set_end(1);
  EXPECT_EQ(CountFailure(again, charges, uneven)->trainer, "a/0/1");
}

TEST(CountFailure, APairIsOfSlotsNotOfProcesses) {
  v1::Suspicions suspicions;
  CountFailure(suspicions, {{"a/0/1", "c/0/1", kTimeout}}, Three());
  v1::Membership later = Three();
  later.mutable_members(2)->set_trainer("c/0/2");
  EXPECT_EQ(CountFailure(suspicions, {{"a/0/1", "c/0/2", kTimeout}}, later)->trainer, "c/0/2");
}

TEST(CountFailure, WhoAloneHoldsTheStateStays) {
  v1::Suspicions suspicions;
  const std::vector<Charge> charges = {{"a/0/1", "c/0/1", kTimeout}};
  CountFailure(suspicions, charges, Three());
  EXPECT_EQ(CountFailure(suspicions, charges, Three(), "c/0/1")->trainer, "a/0/1");
}

TEST(CountFailure, IgnoresStrangersAndSelfAccusation) {
  v1::Suspicions suspicions;
  EXPECT_FALSE(CountFailure(suspicions, {{"a/0/1", "a/0/1", kTimeout}, {"x/0/1", "a/0/1", kTimeout}}, Three()));
  EXPECT_EQ(suspicions.pairs_size(), 0);
}

TEST(Exclude, DoublesUpToFiveMinutes) {
  v1::Suspicions suspicions;
  EXPECT_EQ(Exclude(suspicions, "n", 10), 10);
  EXPECT_EQ(Exclude(suspicions, "n", 10), 20);
  EXPECT_EQ(Exclude(suspicions, "other", 10), 10);
  for (int i = 0; i < 40; ++i) Exclude(suspicions, "n", 10);
  EXPECT_EQ(Exclude(suspicions, "n", 10), 300);
}

}  // namespace
}  // namespace rekindle::core
