#include "worker/agent/trainers/agent_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::TrainerMetrics Said(int rank, double steps) {
  v1::TrainerMetrics metrics;
  metrics.set_rank(rank);
  metrics.set_steps(steps);
  return metrics;
}

TEST(AgentMetrics, SumsGoOnWhenATrainerIsReplaced) {
  AgentMetrics metrics;
  metrics.SetTrainers(2);
  metrics.CountRestart();
  metrics.Advance("job", {}, Said(1, 5));
  metrics.Advance("job", Said(1, 5), Said(1, 8));
  // A new trainer takes over rank 1, with counters that start from zero. Its 2 steps are added to the 8 of the first
  // one.
  metrics.Advance("job", {}, Said(1, 2));
  const std::string page = metrics.Page();
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_steps_total{job_name=\"job\",rank=\"1\"} 10\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_worker_trainers 2\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_worker_trainer_restarts_total 1\n"));
}

TEST(AgentMetrics, TellsWhereTheTimeWentAndHowAStepIs) {
  AgentMetrics metrics;
  v1::TrainerMetrics said = Said(0, 3);
  said.set_data_seconds(1);
  said.set_compute_seconds(2);
  said.set_reduce_seconds(3);
  said.set_optimizer_seconds(4);
  said.set_stall_seconds(5);
  said.set_checkpoint_stall_seconds(6);
  said.set_tokens(7);
  said.set_micro_batches_redone(8);
  said.set_step_seconds(0.5);
  said.set_micro_batches(9);
  said.set_generation(10);
  metrics.Advance("job", {}, said);
  const std::string page = metrics.Page();
  int seconds = 0;
  for (const char* phase : {"data", "compute", "reduce", "optimizer", "stall", "checkpoint"}) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("rekindle_trainer_phase_seconds_total{job_name=\"job\",phase=\"", phase,
                                             "\",rank=\"0\"} ", ++seconds, "\n")));
  }
  const std::string labels = "{job_name=\"job\",rank=\"0\"} ";
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_tokens_total" + labels + "7\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_micro_batches_redone_total" + labels + "8\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_step_seconds" + labels + "0.5\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_step_micro_batches" + labels + "9\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_generation" + labels + "10\n"));
}

TEST(AgentMetrics, NoticesAreCountedBySourceAndKind) {
  AgentMetrics metrics;
  metrics.CountNotices("aws", {.leaves = 1, .hints = 2});
  metrics.CountNotices("aws", {.leaves = 1, .withdrawn = 1});
  const std::string page = metrics.Page();
  EXPECT_THAT(page, HasSubstr("rekindle_worker_notices_total{kind=\"leaves\",source=\"aws\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_worker_notices_total{kind=\"hint\",source=\"aws\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("rekindle_worker_notices_total{kind=\"withdrawn\",source=\"aws\"} 1\n"));
}

TEST(AgentMetrics, NonsenseFromATrainerChangesNothing) {
  AgentMetrics metrics;
  metrics.Advance("job", {}, Said(-1, 5));
  metrics.Advance("job", {}, Said(1 << 30, 5));
  metrics.Advance("job", {}, Said(0, 7));
  metrics.Advance("job", Said(0, 7), Said(0, 3));
  metrics.Advance("job", Said(0, 7), Said(0, NAN));
  metrics.Advance("job", Said(0, 7), Said(0, HUGE_VAL));
  const std::string page = metrics.Page();
  EXPECT_THAT(page, HasSubstr("rekindle_trainer_steps_total{job_name=\"job\",rank=\"0\"} 7\n"));
  EXPECT_THAT(page, Not(HasSubstr("rank=\"-1\"")));
  EXPECT_THAT(page, Not(HasSubstr("rank=\"1073741824\"")));
}

TEST(AgentMetrics, SeriesOfTrainersThatAreNoMoreDisappear) {
  double now = 100;
  AgentMetrics metrics([&now] { return now; });
  metrics.Advance("before", {}, Said(0, 1));
  now += AgentMetrics::kKeptSeconds;
  metrics.Advance("after", {}, Said(0, 1));
  EXPECT_THAT(metrics.Page(), HasSubstr("job_name=\"before\""));
  now += 1;
  const std::string page = metrics.Page();
  EXPECT_THAT(page, Not(HasSubstr("job_name=\"before\"")));
  EXPECT_THAT(page, HasSubstr("job_name=\"after\""));
}

TEST(AgentMetrics, OfVeryManyTrainersThoseThatSpokeLastAreShown) {
  double now = 100;
  AgentMetrics metrics([&now] { return now; });
  for (size_t i = 0; i <= AgentMetrics::kMaxTrainers; ++i) {
    now += 0.001;
    metrics.Advance(absl::StrCat("job-", i), {}, Said(0, 1));
  }
  const std::string page = metrics.Page();
  EXPECT_THAT(page, Not(HasSubstr("job_name=\"job-0\"")));
  EXPECT_THAT(page, HasSubstr("job_name=\"job-1\""));
  EXPECT_THAT(page, HasSubstr(absl::StrCat("job_name=\"job-", AgentMetrics::kMaxTrainers, "\"")));
}

TEST(AgentMetrics, IsServed) {
  AgentMetrics metrics;
  const auto address = metrics.Serve("127.0.0.1:0", {});
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_TRUE(absl::IsInvalidArgument(AgentMetrics().Serve("0.0.0.0:0", {}).status()));
}

}  // namespace
}  // namespace rekindle::agent
