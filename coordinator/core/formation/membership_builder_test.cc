#include "coordinator/core/formation/membership_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Candidate At(const std::string& trainer, int rank, int step, std::vector<int> holds, int attempt = 0) {
  Candidate candidate;
  candidate.trainer = trainer;
  candidate.previous_rank = rank;
  candidate.live = true;
  candidate.step = step;
  candidate.attempt = attempt;
  candidate.holding.holds = std::move(holds);
  candidate.holding.seconds = 1;
  return candidate;
}

Candidate Joins(const std::string& trainer) {
  Candidate candidate;
  candidate.trainer = trainer;
  // 0 seconds for a micro-batch stand for a speed that was not measured.
  candidate.holding.seconds = 0;
  return candidate;
}

Origin FromRank(int step, int attempt = 0) { return {Origin::Kind::kRank, step, attempt, ""}; }

TEST(FindBest, IsTheHighestStepThenAttempt) {
  Candidate dead = At("c", 2, 9, {});
  dead.live = false;
  const std::vector<Candidate> pool = {At("a", 0, 4, {}), At("b", 1, 4, {}, 1), dead};
  EXPECT_EQ(FindBest(pool)->trainer, "b");
  EXPECT_EQ(FindBest({Joins("x")}), nullptr);
}

TEST(BuildMembership, KeepsWhatSurvivorsHoldAndDealsTheRest) {
  const auto m = BuildMembership({At("c", 2, 4, {4, 5}), At("a", 0, 4, {0, 1})}, FromRank(4), false, 6, 2);
  EXPECT_TRUE(m.interrupted());
  EXPECT_EQ(m.generation(), 2);
  // Surviving members keep the order of their ranks.
  EXPECT_EQ(m.members(0).trainer(), "a");
  EXPECT_THAT(m.members(0).holds(), ElementsAre(0, 1));
  EXPECT_THAT(m.members(0).adds(), ElementsAre(2));
  EXPECT_THAT(m.members(1).adds(), ElementsAre(3));
  EXPECT_EQ(m.source().rank(), 0);
  EXPECT_FALSE(m.members(0).needs_state());
}

TEST(BuildMembership, WhoIsBehindHoldsNothingAndCopies) {
  const auto m = BuildMembership({At("a", 0, 4, {0, 1, 2}), At("b", 1, 5, {3, 4, 5})}, FromRank(5), false, 6, 3);
  EXPECT_EQ(m.source().rank(), 1);
  EXPECT_EQ(m.step(), 5);
  EXPECT_TRUE(m.members(0).needs_state());
  EXPECT_THAT(m.members(0).holds(), IsEmpty());
  EXPECT_THAT(m.members(0).adds(), ElementsAre(0, 1, 2));
}

TEST(BuildMembership, AnotherAttemptIsAnotherStep) {
  const auto m = BuildMembership({At("a", 0, 4, {0, 1}), At("b", 1, 4, {2}, 1)}, FromRank(4, 1), false, 4, 3);
  EXPECT_EQ(m.attempt(), 1);
  EXPECT_TRUE(m.members(0).needs_state());
  EXPECT_THAT(m.members(0).holds(), IsEmpty());
}

TEST(BuildMembership, BetweenStepsNobodyHoldsAnything) {
  const auto m = BuildMembership({At("a", 0, 4, {}), Joins("b")}, FromRank(4), true, 4, 3);
  EXPECT_FALSE(m.interrupted());
  EXPECT_TRUE(m.members(1).needs_state());
  // A member that was not measured yet counts as fast as the others are on average.
  EXPECT_EQ(m.members(1).begin(), 2);
}

TEST(BuildMembership, MoreThanMicroBatchesWaitAsSpares) {
  const auto m = BuildMembership({Joins("c"), Joins("b"), Joins("a")}, Origin{}, true, 2, 1);
  ASSERT_EQ(m.members_size(), 2);
  EXPECT_EQ(m.members(1).trainer(), "b");
  EXPECT_TRUE(m.source().initial());
}

TEST(BuildMembership, MoreThanRanksCanBeWaitAsSpares) {
  std::vector<Candidate> pool = {At("first", 0, 4, {})};
  for (int i = 0; i < 64; ++i) pool.push_back(Joins("joins" + std::to_string(i)));
  const auto m = BuildMembership(std::move(pool), FromRank(4), true, 200, 2);
  EXPECT_EQ(m.members_size(), 64);
  EXPECT_EQ(m.members(63).end(), 200);
}

TEST(BuildMembership, RestoresEverybodyFromACheckpoint) {
  const auto m = BuildMembership({At("a", 0, 4, {})}, {Origin::Kind::kCheckpoint, 3, 0, "1-3-a"}, true, 2, 9);
  EXPECT_EQ(m.source().checkpoint(), "1-3-a");
  EXPECT_EQ(m.step(), 3);
  EXPECT_TRUE(m.members(0).needs_state());
}

}  // namespace
}  // namespace rekindle::core
