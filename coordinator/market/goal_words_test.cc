#include "coordinator/market/goal_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

TEST(GoalWordsTest, EachCapacityIsReadAsItIsWritten) {
  for (const char* word : {"spot", "on_demand", "unpriced"}) EXPECT_EQ(WordOf(PoolCapacityOf(word)), word);
  EXPECT_EQ(PoolCapacityOf("spot"), PoolCapacity::kSpot);
  EXPECT_EQ(PoolCapacityOf("on_demand"), PoolCapacity::kOnDemand);
  for (const char* word : {"", "reserved"}) EXPECT_EQ(PoolCapacityOf(word), PoolCapacity::kOther);
  EXPECT_EQ(WordOf(PoolCapacity::kOther), "");
}

TEST(GoalWordsTest, AnObjectiveThatIsNotKnownIsTheCheapest) {
  EXPECT_EQ(ObjectiveOf("greenest"), scheduler::Objective::kGreenest);
  EXPECT_EQ(ObjectiveOf("fastest"), scheduler::Objective::kFastest);
  for (const char* word : {"", "cheapest", "largest"}) EXPECT_EQ(ObjectiveOf(word), scheduler::Objective::kCheapest);
}

TEST(GoalWordsTest, EachListedWordIsKnown) {
  EXPECT_THAT(ObjectiveWords(), testing::ElementsAre("cheapest", "fastest", "greenest"));
  EXPECT_THAT(AllowedWords(), testing::ElementsAre("mixed", "spot", "on_demand"));
}

TEST(GoalWordsTest, BothCapacitiesAreAllowedUnlessOneIsNamed) {
  EXPECT_EQ(AllowedOf("spot"), scheduler::Allowed::kSpot);
  EXPECT_EQ(AllowedOf("on_demand"), scheduler::Allowed::kOnDemand);
  for (const char* word : {"", "mixed", "reserved"}) EXPECT_EQ(AllowedOf(word), scheduler::Allowed::kMixed);
}

}  // namespace
}  // namespace rekindle::core
