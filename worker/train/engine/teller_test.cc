#include "worker/train/engine/teller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "common/log/log.h"
#include "worker/train/testing/fake_control.h"

namespace rekindle::train {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class TellerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("REKINDLE_LOG_LEVEL", "error", 0);
    log::Init("teller_test");
  }
  TellerTest() {
    outcome_.record.loss = 6 << 20;
    outcome_.record.tokens = 3;
    scalars_.step = 8;
    scalars_.loss_scale = {.log2 = 4, .good_steps = 0, .skipped = 2};
    times_.AddStep(0.5);
  }
  ~TellerTest() override { std::remove(path_.c_str()); }

  void TellStep(std::optional<double> learning_rate, bool redone = false) {
    teller_.Step({.moment = {.generation = 2, .step = 8, .world_size = 3},
                  .outcome = outcome_,
                  .scalars = scalars_,
                  .times = times_,
                  .learning_rate = learning_rate,
                  .micro_batch_seconds = 0.25,
                  .computed = 5,
                  .redone = redone});
  }
  std::vector<nlohmann::json> Events() const {
    std::vector<nlohmann::json> events;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) events.push_back(nlohmann::json::parse(line));
    return events;
  }

  const std::string path_ = testing::TempDir() + "/teller_test_timeline";
  FakeControl control_;
  Reporter reporter_{control_};
  MetricsBoard metrics_;
  Timeline timeline_{path_, "n1/0/1"};
  Teller teller_{control_, reporter_, metrics_, timeline_};
  StepOutcome outcome_;
  StateScalars scalars_;
  StepTimes times_;
};

TEST_F(TellerTest, AReportHasWhatAStepDid) {
  outcome_.evaluation = {.step = 7, .loss = 4 << 20, .tokens = 1, .micro_batches = 1};
  TellStep(0.01);
  const Report report = control_.report();
  // Only the exchange of the next step shows that all ranks have applied a step.
  EXPECT_EQ(report.completed_step, 7);
  EXPECT_DOUBLE_EQ(report.loss, 2);
  EXPECT_DOUBLE_EQ(report.learning_rate, 0.01);
  EXPECT_DOUBLE_EQ(report.loss_scale, 16);
  EXPECT_EQ(report.skipped_steps, 2);
  EXPECT_DOUBLE_EQ(report.step_seconds, 0.5);
  EXPECT_DOUBLE_EQ(report.tokens_per_second, 6);
  EXPECT_DOUBLE_EQ(report.micro_batch_seconds, 0.25);
  EXPECT_EQ(report.validation.step, 7);
  EXPECT_DOUBLE_EQ(report.validation.value, 4);
  ASSERT_EQ(control_.losses().size(), 1u);
  EXPECT_EQ(control_.losses()[0].step, 8);
  EXPECT_DOUBLE_EQ(metrics_.Read().steps, 1);
  EXPECT_DOUBLE_EQ(metrics_.Read().tokens, 3);
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["event"], "step");
  EXPECT_EQ(Events()[0]["step"], 8);
  EXPECT_EQ(Events()[0]["world"], 3);
  EXPECT_EQ(Events()[0]["adds"], 5);
}

TEST_F(TellerTest, ASkippedBatchLeavesTheLearningRateOfTheStepBefore) {
  TellStep(0.01);
  TellStep(std::nullopt);
  EXPECT_DOUBLE_EQ(control_.report().learning_rate, 0.01);
}

TEST_F(TellerTest, OnlyTheStepThatWasInterruptedCountsAsRedone) {
  TellStep(0.01);
  EXPECT_DOUBLE_EQ(metrics_.Read().micro_batches_redone, 0);
  TellStep(0.01, /*redone=*/true);
  EXPECT_DOUBLE_EQ(metrics_.Read().micro_batches_redone, 5);
}

TEST_F(TellerTest, ARestoreNamesWhereItsBytesCameFrom) {
  teller_.Restored({.generation = 2, .step = 6, .world_size = 3}, "00000002-00000006",
                   {.manifest = {}, .exact = false, .bytes_from = {{"memory", 10}, {"peer", 20}, {"store", 30}}});
  EXPECT_EQ(control_.report().restored,
            "restored 00000002-00000006 (16 bits a value): 10 bytes from memory, 20 bytes from peers' memory, 30 bytes "
            "from store");
  EXPECT_EQ(Events().at(0)["event"], "restored");
}

TEST_F(TellerTest, AStragglerIsToldOnceAndTakenBackOnce) {
  Membership membership;
  membership.members.resize(2);
  membership.members[0].trainer = "n1/0/1";
  membership.members[1].trainer = "n2/0/1";
  const Straggling slow{.cause = Straggling::Cause::kCompute, .seconds = 0.03, .compared = 0.01};
  teller_.SlowAt(membership, 1, slow);
  EXPECT_EQ(control_.report().straggler_cause, "compute");
  EXPECT_EQ(control_.report().straggler,
            "n2/0 is a straggler (compute): it takes 30 ms for a micro-batch, 3.0 times as long as the others");
  teller_.SlowAt(membership, 1, slow);
  EXPECT_EQ(control_.reports(), 1);
  teller_.SlowAt(membership, 1, {});
  EXPECT_EQ(control_.report().straggler, "");
  EXPECT_EQ(control_.reports(), 2);
}

TEST_F(TellerTest, TheSavingOfRangesIsToldOnlyIfTheyWereEverCutAnew) {
  teller_.SavedByRanges(1);
  teller_.AllSavedByRanges(9);
  EXPECT_EQ(control_.reports(), 0);
  Membership membership;
  membership.members.resize(2);
  membership.members[0].trainer = "n1/0/1";
  membership.members[1].trainer = "n2/0/1";
  teller_.Recut(4, membership, StepRanges({{0, 2}, {2, 4}}),
                {.before = {2, 2}, .after = {3, 1}, .seconds_before = 0.4, .seconds_after = 0.3}, 4);
  EXPECT_EQ(control_.report().levers.at("ranges").step, 5);
  EXPECT_THAT(control_.report().levers.at("ranges").text, StartsWith("ranges go from 2/2 to 3/1 micro-batches: n2/0"));
  teller_.SavedByRanges(2);
  teller_.AllSavedByRanges(9);
  EXPECT_EQ(control_.report().levers.at("ranges").step, 9);
  EXPECT_THAT(control_.report().levers.at("ranges").text, HasSubstr("the slowest rank computed 3 s less in all"));
  EXPECT_DOUBLE_EQ(control_.report().levers.at("ranges").seconds_saved, 3);
}

TEST_F(TellerTest, ANoteIsOneLineAndIsTakenBack) {
  teller_.Note("replacing the child: killed by signal 9\nTraceback");
  EXPECT_EQ(control_.report().note, "replacing the child: killed by signal 9");
  teller_.Note(std::string(5000, 'x'));
  EXPECT_LT(control_.report().note.size(), 1000u);
  teller_.Note("");
  EXPECT_EQ(control_.report().note, "");
}

TEST_F(TellerTest, AFailureSaysWhetherTheJobIsAtFault) {
  teller_.Failed(absl::InvalidArgumentError("the loss is not finite"));
  EXPECT_EQ(control_.report().phase, Phase::kFailed);
  EXPECT_EQ(control_.report().error, "the loss is not finite");
  EXPECT_TRUE(control_.report().error_is_jobs_fault);
  teller_.Failed(absl::UnavailableError("this node is sick"));
  EXPECT_FALSE(control_.report().error_is_jobs_fault);
}

}  // namespace
}  // namespace rekindle::train
