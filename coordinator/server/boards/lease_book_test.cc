#include "coordinator/server/boards/lease_book.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

namespace rekindle::coordinator {
namespace {

class LeaseBookTest : public testing::Test {
 protected:
  bool Answer(int generation, const std::string& digest = "d", const std::string& secret = "s") {
    return book_.Answer("job", generation, digest, secret);
  }

  double now_ = 1000;
  LeaseBook book_{[this] { return now_; }};
};

TEST_F(LeaseBookTest, OnlyTheMembersOfTheNewestAreAnswered) {
  EXPECT_FALSE(Answer(1));
  book_.Set("job", 2, "d", "s");
  EXPECT_TRUE(Answer(2));
  EXPECT_FALSE(Answer(1));
  EXPECT_FALSE(Answer(3));
  EXPECT_FALSE(Answer(2, "another membership"));
  EXPECT_FALSE(Answer(2, "d", "a guess"));
  EXPECT_FALSE(book_.Answer("another", 2, "d", "s"));
  book_.Set("job", 3, "d3", "s");
  EXPECT_FALSE(Answer(2));
  EXPECT_TRUE(Answer(3, "d3"));
  book_.Forget("job");
  EXPECT_FALSE(Answer(3, "d3"));
}

TEST_F(LeaseBookTest, WhatMayBeSpentRunsOutWhetherTheGenerationStandsOrNot) {
  EXPECT_EQ(book_.SpendSeconds("job"), std::nullopt);
  book_.SetSpending("job", 60);
  EXPECT_EQ(book_.SpendSeconds("job"), 60);
  EXPECT_EQ(book_.SpendSeconds("another"), std::nullopt);
  now_ = 1050;
  EXPECT_EQ(book_.SpendSeconds("job"), 10);
  book_.Forget("job");
  now_ = 1070;
  EXPECT_EQ(book_.SpendSeconds("job"), 0);
  book_.SetSpending("job", -5);
  EXPECT_EQ(book_.SpendSeconds("job"), 0);
  book_.SetSpending("job", std::nullopt);
  EXPECT_EQ(book_.SpendSeconds("job"), std::nullopt);
}

TEST_F(LeaseBookTest, CountsFromTheLastAnswer) {
  book_.Set("job", 2, "d", "s");
  now_ = 1010;
  // A call of Set counts as an answer to a member, because an earlier process of the coordinator may have answered
  // members until then.
  EXPECT_EQ(book_.End("job", 2, 60), 50);
  EXPECT_TRUE(Answer(2));
  now_ = 1069.5;
  EXPECT_EQ(book_.End("job", 2, 60), 0.5);
  // A member that asks with a wrong secret gets no answer, so the time of the last answer stays as it was.
  EXPECT_FALSE(Answer(2, "d", "a guess"));
  // The book has this generation already, so the second call of Set does not count as an answer to a member.
  book_.Set("job", 2, "d", "s");
  now_ = 1070;
  EXPECT_EQ(book_.End("job", 2, 60), 0);
}

TEST_F(LeaseBookTest, AfterTheEndNobodyIsAnsweredAnyMore) {
  book_.Set("job", 2, "d", "s");
  now_ += 60;
  EXPECT_EQ(book_.End("job", 2, 60), 0);
  EXPECT_FALSE(Answer(2));
  EXPECT_EQ(book_.End("job", 2, 60), 0);
  EXPECT_EQ(book_.End("another", 2, 60), 0);
}

TEST_F(LeaseBookTest, TheEndOfOneThatDoesNotStandEndsNoOther) {
  book_.Set("job", 3, "d", "s");
  now_ += 60;
  EXPECT_EQ(book_.End("job", 2, 60), 0);
  EXPECT_TRUE(Answer(3));
}

TEST_F(LeaseBookTest, ADirectiveThatNamesItIsAnAnswer) {
  book_.Set("job", 2, "d", "s");
  now_ = 1050;
  book_.Answered("job", 2);
  book_.Answered("job", 1);
  book_.Answered("another", 2);
  now_ = 1060;
  EXPECT_EQ(book_.End("job", 2, 60), 50);
}

// Tests calls of Answer and End at the same time. Once End has ended the lease, no member gets an answer. If a member
// was answered before, End does not end the lease. The thread sanitizer must find no data race.
TEST(LeaseBook, AnswersAndItsEndDoNotCross) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<double> now = 1000;
    LeaseBook book([&] { return now.load(); });
    book.Set("job", 1, "d", "s");
    now = 1059.9;
    bool answered_after = false;
    double left = 0;
    std::atomic<bool> ended{false};
    std::thread member([&] {
      for (int i = 0; i < 50; ++i) {
        const bool over = ended.load();
        const bool answered = book.Answer("job", 1, "d", "s");
        answered_after = answered_after || (over && answered);
        now = now + 0.01;
      }
    });
    left = book.End("job", 1, 60);
    if (left == 0) ended = true;
    member.join();
    EXPECT_FALSE(answered_after);
    if (left > 0) {
      EXPECT_TRUE(book.Answer("job", 1, "d", "s"));
    }
  }
}

}  // namespace
}  // namespace rekindle::coordinator
