#include "coordinator/server/metrics/job_samples.h"

#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "coordinator/testing/samples_testing.h"

namespace rekindle::coordinator {
namespace {

constexpr double kNow = 10'000;

v1::Job JobIn(v1::JobState state, const std::string& name = "a") {
  v1::Job job;
  job.set_name(name);
  job.set_uid("uid-" + name);
  job.mutable_status()->set_state(state);
  job.mutable_status()->set_checkpoint_step(-1);
  job.mutable_status()->mutable_resolved_spec()->mutable_model()->set_kind("gpt");
  return job;
}

LiveJob Live(const v1::Job& job, double unsaved_since = kNow, double waits_since = kNow) {
  return {std::make_shared<const v1::Job>(job), waits_since, unsaved_since};
}

TakenSamples SamplesOf(const std::vector<LiveJob>& jobs) {
  common::MetricSamples samples;
  AddJobSamples(jobs, kNow, samples);
  AddQueueSamples(jobs, kNow, samples);
  return TakenSamples(samples);
}

const common::MetricSamples::Labels kA = {{"job_name", "a"}};

TEST(JobSamples, AJobThatTrains) {
  v1::Job job = JobIn(v1::RUNNING);
  job.mutable_spec()->set_team("vision");
  v1::JobStatus* status = job.mutable_status();
  status->mutable_resolved_spec()->mutable_training()->set_steps(500);
  status->mutable_resolved_spec()->mutable_checkpoint()->set_every_seconds(60);
  status->set_generation(3);
  status->set_step(120);
  status->set_loss(1.25);
  status->set_validation_loss(1.5);
  status->add_validation_curve()->set_value(1.5);
  status->set_tokens_per_second(4000);
  status->set_step_seconds(0.25);
  status->set_checkpoint_step(100);
  status->add_members()->set_straggler("network");
  status->add_members();
  const TakenSamples samples = SamplesOf({Live(job, kNow - 200)});
  EXPECT_EQ(samples.Of("rekindle_job_info", {{"job_name", "a"}, {"state", "running"}, {"team", "vision"}}), 1);
  EXPECT_EQ(samples.Of("rekindle_job_step", kA), 120);
  EXPECT_EQ(samples.Of("rekindle_job_steps_planned", kA), 500);
  EXPECT_EQ(samples.Of("rekindle_job_generation", kA), 3);
  EXPECT_EQ(samples.Of("rekindle_job_loss", kA), 1.25);
  EXPECT_EQ(samples.Of("rekindle_job_validation_loss", kA), 1.5);
  EXPECT_EQ(samples.Of("rekindle_job_tokens_per_second", kA), 4000);
  EXPECT_EQ(samples.Of("rekindle_job_samples_per_second", kA), std::nullopt);
  EXPECT_EQ(samples.Of("rekindle_job_step_seconds", kA), 0.25);
  EXPECT_EQ(samples.Of("rekindle_job_workers", kA), 2);
  EXPECT_EQ(samples.Of("rekindle_job_stragglers", kA), 1);
  EXPECT_EQ(samples.Of("rekindle_stragglers", {{"cause", "network"}}), 1);
  EXPECT_EQ(samples.Of("rekindle_stragglers", {{"cause", "data"}}), 0);
  EXPECT_EQ(samples.Of("rekindle_job_checkpoint_step", kA), 100);
  EXPECT_EQ(samples.Of("rekindle_job_checkpoint_age_seconds", kA), 200);
  EXPECT_EQ(samples.Of("rekindle_job_checkpoint_interval_seconds", kA), 60);
  EXPECT_EQ(samples.CountOf("rekindle_job_cost"), 0u) << "of nodes without a price";
  EXPECT_EQ(samples.CountOf("rekindle_job_co2_grams"), 0u);
}

TEST(JobSamples, OneThatDoesNotTrainHasNeitherSpeedNorAge) {
  v1::Job job = JobIn(v1::PAUSED);
  job.mutable_status()->set_step(5);
  job.mutable_status()->set_tokens_per_second(4000);
  job.mutable_status()->add_members();
  const TakenSamples samples = SamplesOf({Live(job)});
  EXPECT_EQ(samples.Of("rekindle_job_step", kA), 5);
  for (const char* name : {"rekindle_job_tokens_per_second", "rekindle_job_workers", "rekindle_job_stragglers",
                           "rekindle_job_checkpoint_age_seconds", "rekindle_job_checkpoint_step"}) {
    EXPECT_EQ(samples.CountOf(name), 0u) << name;
  }
}

TEST(JobSamples, ModelsThatReadNoTokensHaveSamples) {
  v1::Job job = JobIn(v1::RUNNING);
  job.mutable_status()->mutable_resolved_spec()->mutable_model()->set_kind("resnet18");
  job.mutable_status()->set_tokens_per_second(12);
  const TakenSamples samples = SamplesOf({Live(job)});
  EXPECT_EQ(samples.Of("rekindle_job_samples_per_second", kA), 12);
  EXPECT_EQ(samples.CountOf("rekindle_job_tokens_per_second"), 0u);
}

TEST(JobSamples, MoneyIsInItsCurrency) {
  v1::Job job = JobIn(v1::RUNNING);
  v1::Cost* cost = job.mutable_status()->mutable_cost();
  cost->set_currency("EUR");
  cost->set_until(kNow);
  cost->set_spent(40);
  cost->set_rate(6);
  cost->set_usual_rate(3);
  cost->set_rated_hours(2);
  cost->set_forecast(90);
  cost->set_budget(50);
  cost->set_kg_co2(1.5);
  cost->set_carbon_node_hours(4);
  const common::MetricSamples::Labels in = {{"currency", "EUR"}, {"job_name", "a"}};
  const TakenSamples samples = SamplesOf({Live(job)});
  EXPECT_EQ(samples.Of("rekindle_job_cost", in), 40);
  EXPECT_EQ(samples.Of("rekindle_job_cost_per_hour", in), 6);
  EXPECT_EQ(samples.Of("rekindle_job_usual_cost_per_hour", in), 3);
  EXPECT_EQ(samples.Of("rekindle_job_cost_forecast", in), 90);
  EXPECT_EQ(samples.Of("rekindle_job_budget", in), 50);
  EXPECT_EQ(samples.Of("rekindle_job_budget_spent_ratio", kA), 0.8);
  EXPECT_EQ(samples.Of("rekindle_job_co2_grams", kA), 1500);
}

TEST(JobSamples, HowOftenACheckpointIsToBeDurable) {
  v1::JobStatus status;
  v1::JobSpec::Checkpoint* checkpoint = status.mutable_resolved_spec()->mutable_checkpoint();
  checkpoint->set_every_steps(0);
  EXPECT_EQ(CheckpointIntervalOf(status), 0) << "never";
  checkpoint->set_every_steps(50);
  EXPECT_EQ(CheckpointIntervalOf(status), 0) << "no step is made yet";
  status.set_step_seconds(0.5);
  EXPECT_EQ(CheckpointIntervalOf(status), 25);
  checkpoint->set_every_seconds(90);
  EXPECT_EQ(CheckpointIntervalOf(status), 90);
  checkpoint->clear_every_seconds();
  checkpoint->set_interval("auto");
  EXPECT_EQ(CheckpointIntervalOf(status), 0) << "not found yet";
  status.set_checkpoint_interval_seconds(33);
  EXPECT_EQ(CheckpointIntervalOf(status), 33);
}

TEST(JobSamples, TheQueueIsOfJobsThatWait) {
  EXPECT_EQ(SamplesOf({}).Of("rekindle_queue_jobs"), 0);
  EXPECT_EQ(SamplesOf({}).Of("rekindle_queue_longest_wait_seconds"), 0);
  v1::Job big = JobIn(v1::PENDING, "b");
  big.mutable_status()->mutable_resolved_spec()->mutable_workers()->set_min(4);
  const TakenSamples samples = SamplesOf({Live(JobIn(v1::PENDING), kNow, kNow - 30), Live(big, kNow, kNow - 70),
                                          Live(JobIn(v1::RUNNING, "c"), kNow, kNow - 900)});
  EXPECT_EQ(samples.Of("rekindle_queue_jobs"), 2);
  EXPECT_EQ(samples.Of("rekindle_queue_slots"), 5);
  EXPECT_EQ(samples.Of("rekindle_queue_longest_wait_seconds"), 70);
}

TEST(JobSamples, OfVeryManyThoseThatTrainAreListedFirst) {
  std::vector<LiveJob> jobs;
  for (size_t i = 0; i < kListedJobs + 10; ++i) jobs.push_back(Live(JobIn(v1::PENDING, absl::StrCat("p", i))));
  jobs.push_back(Live(JobIn(v1::RUNNING, "trains")));
  const TakenSamples samples = SamplesOf(jobs);
  EXPECT_EQ(samples.CountOf("rekindle_job_step"), kListedJobs);
  EXPECT_EQ(samples.Of("rekindle_jobs_unlisted"), 11);
  EXPECT_EQ(samples.Of("rekindle_job_step", {{"job_name", "trains"}}), 0);
  EXPECT_EQ(samples.Of("rekindle_queue_jobs"), kListedJobs + 10) << "the queue is counted whole";
}

TEST(JobSamples, WhatIsNoNumberIsLeftOut) {
  v1::Job job = JobIn(v1::RUNNING);
  job.mutable_status()->set_step(1);
  job.mutable_status()->set_loss(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(SamplesOf({Live(job)}).CountOf("rekindle_job_loss"), 0u);
}

}  // namespace
}  // namespace rekindle::coordinator
