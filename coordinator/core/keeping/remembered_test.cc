#include "coordinator/core/keeping/remembered.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/core/cluster.h"
#include "coordinator/core/scenario/scenario_trainer.h"

namespace rekindle::core {
namespace {

constexpr double kStart = 1000;

std::string NameOf(size_t i) { return "m" + std::to_string(i) + "/0/1"; }

class RememberedTest : public testing::Test {
 protected:
  RememberedTest() {
    job_.record.mutable_membership()->set_generation(3);
    job_.record.mutable_membership()->add_members()->set_trainer("member/0/1");
  }
  Trainer* Say(const std::string& trainer, double now) {
    Turn turn{state_, effects_, now};
    return Remember(turn, job_, trainer);
  }
  bool Knows(const std::string& trainer) const { return FindTrainer(job_, trainer) != nullptr; }

  State state_;
  Effects effects_;
  Job job_;
};

TEST_F(RememberedTest, WhoeverSaidNothingForTenMinutesIsForgottenWhenAnotherComes) {
  Say("old/0/1", kStart);
  Say("dead/0/1", kStart)->death = "trainer dead/0 was killed";
  Say("later/0/1", kStart + 1);
  Say("new/0/1", kStart + kRememberSeconds - 0.001);
  EXPECT_TRUE(Knows("old/0/1"));
  Say("newer/0/1", kStart + kRememberSeconds);
  EXPECT_FALSE(Knows("old/0/1"));
  EXPECT_FALSE(Knows("dead/0/1"));
  EXPECT_TRUE(Knows("later/0/1"));
  EXPECT_EQ(effects_.crowded_out, 0) << "that was in its time";
}

TEST_F(RememberedTest, WhoSpeaksAgainIsRememberedForAnotherTenMinutes) {
  Say("old/0/1", kStart);
  Say("old/0/1", kStart + 500);
  Say("new/0/1", kStart + kRememberSeconds);
  EXPECT_TRUE(Knows("old/0/1"));
}

TEST_F(RememberedTest, EvidenceOfTheNewestGenerationIsNeverForgotten) {
  Say("member/0/1", kStart);
  Say("ahead/0/1", kStart)->report.set_generation(4);
  job_.ahead.insert("ahead/0/1");
  Say("above/0/1", kStart)->report.set_generation(5);
  Say("below/0/1", kStart)->report.set_generation(3);
  job_.past.insert("below/0/1");
  ForgetTrainers(job_, kStart + 1e6);
  EXPECT_TRUE(Knows("member/0/1"));
  EXPECT_TRUE(Knows("ahead/0/1"));
  EXPECT_TRUE(Knows("above/0/1")) << "no later generation may have its number";
  EXPECT_FALSE(Knows("below/0/1"));
  EXPECT_TRUE(job_.past.empty());
}

TEST_F(RememberedTest, AFullSetForgetsWhoeverSpokeLongestAgoAndAdmitsTheNext) {
  Say("member/0/1", kStart);
  for (size_t i = 1; i < kMaxTrainers; ++i) Say(NameOf(i), kStart + 1 + 0.001 * static_cast<double>(i));
  EXPECT_EQ(job_.trainers.size(), kMaxTrainers);
  EXPECT_EQ(effects_.crowded_out, 0);
  Say(NameOf(1), kStart + 100);
  ASSERT_NE(Say("next/0/1", kStart + 101), nullptr);
  EXPECT_EQ(job_.trainers.size(), kMaxTrainers);
  EXPECT_EQ(effects_.crowded_out, 1);
  EXPECT_TRUE(Knows("member/0/1")) << "although it spoke first";
  EXPECT_TRUE(Knows(NameOf(1)));
  EXPECT_FALSE(Knows(NameOf(2)));
  EXPECT_TRUE(Knows("next/0/1"));
}

TEST_F(RememberedTest, NobodyIsAdmittedForWhomOneThatIsNeededWouldHaveToGo) {
  for (size_t i = 0; i < kMaxTrainers; ++i) {
    Say(NameOf(i), kStart)->report.set_generation(4);
    job_.ahead.insert(NameOf(i));
  }
  EXPECT_EQ(Say("next/0/1", kStart), nullptr);
  EXPECT_EQ(job_.trainers.size(), kMaxTrainers);
}

// The fixture has a job that refuses one trainer of each node, and looks at what the job's events tell of the refusals.
class ToldTest : public testing::Test {
 protected:
  ToldTest() {
    SubmitJob submit;
    submit.record.mutable_job()->set_name("job");
    submit.record.mutable_job()->set_uid("uid");
    submit.record.set_secret("secret");
    submit.record.mutable_job()->mutable_status()->mutable_resolved_spec()->mutable_workers()->set_min(1);
    cluster_.Step(submit, kStart);
  }
  // Lets a trainer send a report with a wrong secret, which the job refuses. Returns how many events told of the
  // refusal.
  size_t Refuse(const std::string& trainer) {
    TrainerReported event{NewTrainer(trainer, 1, "uid", "another")};
    event.report.set_sequence(++sequence_);
    const Effects effects = cluster_.Step(event, kStart);
    crowded_out_ += effects.crowded_out;
    return static_cast<size_t>(std::count_if(effects.events.begin(), effects.events.end(),
                                             [](const v1::Event& told) { return told.kind() == "refused"; }));
  }

  Cluster cluster_;
  int crowded_out_ = 0;
  int sequence_ = 0;
};

TEST_F(ToldTest, OnePastTheLimitIsToldAsWellAndWhatWasToldLongestAgoIsForgotten) {
  for (size_t i = 0; i < kMaxTold; ++i) ASSERT_EQ(Refuse("m" + std::to_string(i) + "/0"), 1u) << i;
  EXPECT_EQ(crowded_out_, 0);
  EXPECT_EQ(Refuse("m0/0"), 0u) << "it was told";
  EXPECT_EQ(Refuse("next/0"), 1u);
  EXPECT_EQ(crowded_out_, 2) << "one thing that was told, and one refusal";
  EXPECT_EQ(Refuse("m0/0"), 0u) << "it is told of again and again";
  EXPECT_EQ(Refuse("m1/0"), 1u) << "it was forgotten";
}

}  // namespace
}  // namespace rekindle::core
