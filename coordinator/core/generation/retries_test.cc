#include "coordinator/core/generation/retries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "coordinator/core/scenario/scenario.h"

namespace rekindle::core {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kMoment = 0.001;

class RetriesTest : public testing::Test {
 protected:
  RetriesTest() {
    for (const char* line : {"submit job max=2 micro_batches=4 store=file:///store", "node n1 up", "node n2 up",
                             "trainer n1/0,n2/0", "follow all"}) {
      Run(line);
    }
  }
  std::vector<std::string> Run(const std::string& line) { return scenario_.Run(line); }
  std::vector<std::string> Pass(double seconds) { return Run("live " + std::to_string(seconds)); }
  // Ends the running generation without a step: both members report an interruption.
  std::vector<std::string> Fail() {
    Run("follow all");
    Run("interrupt n1/0 error=no-buffer-space");
    return Run("interrupt n2/0");
  }
  // Lets `times` more generations fail, each after the wait that precedes its retry.
  void FailTimes(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_THAT(Fail(), IsEmpty()) << i;
      Pass(30);
      ASSERT_THAT(Status(), HasSubstr("RUNNING")) << i;
    }
  }
  std::string Status() { return Run("status").front(); }

  Scenario scenario_;
};

TEST_F(RetriesTest, TheWaitDoublesFromATenthOfASecondToThirty) {
  double seconds = 0.1;
  for (int generation = 2; generation <= kMostFruitless; ++generation) {
    const std::string begins = "generation " + std::to_string(generation) + " at step 0";
    ASSERT_THAT(Fail(), IsEmpty()) << "generation " << generation << " did not wait";
    EXPECT_THAT(Pass(seconds - kMoment), IsEmpty());
    EXPECT_THAT(Pass(kMoment), Contains(HasSubstr(begins)));
    seconds = std::min(30.0, 2 * seconds);
  }
}

TEST_F(RetriesTest, TwentyInARowPauseTheJobAndGiveItsNodesBack) {
  FailTimes(kMostFruitless - 1);
  EXPECT_THAT(Status(), HasSubstr("RUNNING, generation 20, step 0"));
  const auto said = Fail();
  EXPECT_THAT(said, Contains(HasSubstr("retries_stop: the job is paused: 20 generations in a row of the same 2 members "
                                       "ended without a step: trainer n1/0 was interrupted: no-buffer-space")));
  EXPECT_THAT(said, Contains("n1 <- nothing to run"));
  EXPECT_THAT(said, Contains("n2 <- nothing to run"));
  EXPECT_THAT(Status(), HasSubstr("PAUSED, generation 20, step 0: 20 generations in a row"));
  // The paused job gets no trainer when its node reports again, nor after a restart of the coordinator.
  EXPECT_THAT(Run("node n1 up slots=2"), Not(Contains(HasSubstr("run job"))));
  Run("restart");
  EXPECT_THAT(Run("live 30"), Not(Contains(HasSubstr("run job"))));
  EXPECT_THAT(Status(), HasSubstr("PAUSED, generation 20, step 0: 20 generations in a row"));
}

TEST_F(RetriesTest, AResumeBeginsAnew) {
  FailTimes(kMostFruitless - 1);
  Fail();
  EXPECT_THAT(Run("node n1 exit n1/0 0"), IsEmpty());
  EXPECT_THAT(Run("node n2 exit n2/0 0"), IsEmpty());
  EXPECT_THAT(Run("resume"), Contains("n1 <- run job on slot 0"));
  EXPECT_THAT(Run("trainer n1/0,n2/0 incarnation=2"), Contains(HasSubstr("generation 21 at step 0")));
  ASSERT_THAT(Fail(), IsEmpty());
  EXPECT_THAT(Status(), HasSubstr("waits 0.1 s before the next generation of the same 2 members (1 in a row"));
  FailTimes(kMostFruitless - 2);
  EXPECT_THAT(Status(), HasSubstr("RUNNING"));
}

TEST_F(RetriesTest, APauseByTheUserAndAResumeBeginAnewToo) {
  FailTimes(3);
  Fail();
  Run("pause");
  EXPECT_THAT(Status(), HasSubstr("paused by the user"));
  Run("resume");
  Pass(0.1);
  ASSERT_THAT(Fail(), IsEmpty());
  EXPECT_THAT(Status(), HasSubstr("waits 0.2 s"));
}

TEST_F(RetriesTest, AfterAStepNothingIsWaitedForAndNothingCounts) {
  FailTimes(kMostFruitless - 1);
  Run("follow all");
  Run("steps all 1");
  EXPECT_THAT(Fail(), Contains(HasSubstr("generation 21 at step 1")));
  Fail();
  EXPECT_THAT(Status(), HasSubstr("waits 0.1 s before the next generation of the same 2 members (1 in a row"));
}

TEST_F(RetriesTest, AStepThatNobodyTellsOfIsSeenInTheState) {
  FailTimes(kMostFruitless - 1);
  Run("follow all");
  Run("interrupt n1/0 step=1");
  EXPECT_THAT(Run("interrupt n2/0 step=1"), Contains(HasSubstr("generation 21 at step 1")));
}

TEST_F(RetriesTest, OtherMembersWaitForNothingAndBeginAnew) {
  FailTimes(kMostFruitless - 2);
  ASSERT_THAT(Fail(), IsEmpty());
  EXPECT_THAT(Run("node n2 exit n2/0 -9"), Contains(HasSubstr("generation 20 at step 0")));
  Run("follow all");
  Run("interrupt n1/0");
  EXPECT_THAT(Status(), HasSubstr("waits 0.1 s before the next generation of the same member (1 in a row"));
}

TEST_F(RetriesTest, SmallerMicroBatchesAreAnotherTry) {
  Run("cancel");
  Run("submit other micro_batches=16 micro_batch=8 reduce=fp32");
  Run("trainer n1/0,n2/0 incarnation=2 micro_batch=8");
  // A trainer runs out of memory in each of three generations, so the micro-batch of the generations is 8, 4, 2 and 1
  // samples in turn. A generation with a smaller micro-batch does not count as a retry.
  for (int generation = 2; generation <= 4; ++generation) {
    Run("follow all");
    Run("interrupt n1/0 out_of_memory=no-room");
    EXPECT_THAT(Run("interrupt n2/0"), Contains(HasSubstr("generation " + std::to_string(generation) + " at step 0")));
  }
  ASSERT_THAT(Fail(), IsEmpty());
  EXPECT_THAT(Status(), HasSubstr("(1 in a row"));
}

}  // namespace
}  // namespace rekindle::core
