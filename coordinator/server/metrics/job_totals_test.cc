#include "coordinator/server/metrics/job_totals.h"

#include <gtest/gtest.h>

#include <memory>

#include "coordinator/store/record_keys.h"
#include "coordinator/store/testing/memory_store.h"
#include "coordinator/testing/samples_testing.h"

namespace rekindle::coordinator {
namespace {

using Jobs = std::map<std::string, std::shared_ptr<const v1::Job>>;

std::shared_ptr<const v1::Job> JobOf(const std::string& uid, int step, double spent, const std::string& currency) {
  const auto job = std::make_shared<v1::Job>();
  job->set_uid(uid);
  v1::JobStatus* status = job->mutable_status();
  status->set_step(step);
  status->set_steps_redone(1);
  status->set_micro_batches_redone(2);
  status->set_skipped_steps(3);
  status->set_checkpoints_failed(4);
  status->mutable_cost()->set_spent(spent);
  status->mutable_cost()->set_currency(currency);
  status->mutable_cost()->set_node_hours(0.5);
  status->mutable_cost()->set_kg_co2(0.25);
  return job;
}

TEST(JobTotals, AreOfAllJobsThatAreKept) {
  const Jobs jobs = {{"1", JobOf("1", 10, 2, "USD")}, {"2", JobOf("2", 5, 3, "USD")}, {"3", JobOf("3", 1, 7, "EUR")}};
  common::MetricSamples samples;
  AddTotals(JobTotals().Sum(jobs), samples);
  const TakenSamples taken(samples);
  EXPECT_EQ(taken.Of("rekindle_steps_total"), 16);
  EXPECT_EQ(taken.Of("rekindle_steps_redone_total"), 3);
  EXPECT_EQ(taken.Of("rekindle_micro_batches_redone_total"), 6);
  EXPECT_EQ(taken.Of("rekindle_skipped_steps_total"), 9);
  EXPECT_EQ(taken.Of("rekindle_checkpoints_failed_total"), 12);
  EXPECT_EQ(taken.Of("rekindle_node_seconds_total"), 1.5 * 3600);
  EXPECT_EQ(taken.Of("rekindle_co2_grams_total"), 750);
  EXPECT_EQ(taken.Of("rekindle_cost_total", {{"currency", "USD"}}), 5);
  EXPECT_EQ(taken.Of("rekindle_cost_total", {{"currency", "EUR"}}), 7);
}

TEST(JobTotals, DoNotFallWhenAJobIsForgotten) {
  MemoryStore store;
  Jobs jobs = {{"1", JobOf("1", 10, 2, "USD")}, {"2", JobOf("2", 5, 3, "USD")}};
  JobTotals totals;
  ASSERT_TRUE(totals.Load(store).ok());
  const JobSums before = totals.Sum(jobs);
  const Write write = totals.Forget("1", jobs["1"].get());
  EXPECT_EQ(totals.Sum(jobs), before) << "while its record is being removed";
  jobs.erase("1");
  totals.Gone("1");
  EXPECT_EQ(totals.Sum(jobs), before);

  ASSERT_TRUE(store.Commit({{write}, {}}).ok());
  JobTotals next;
  ASSERT_TRUE(next.Load(store).ok());
  EXPECT_EQ(next.Sum(jobs), before) << "after a restart";
}

TEST(JobTotals, AJobThatIsForgottenBeforeItWasShownCounts) {
  MemoryStore store;
  JobTotals totals;
  ASSERT_TRUE(totals.Load(store).ok());
  totals.Restore(*JobOf("1", 10, 2, "USD"));
  (void)totals.Forget("1", nullptr);
  EXPECT_EQ(totals.Sum(Jobs()).steps, 10);
  totals.Restore(*JobOf("2", 10, 2, "USD"));
  totals.EndRestoring();
  (void)totals.Forget("2", nullptr);
  EXPECT_EQ(totals.Sum(Jobs()).steps, 10);
}

TEST(JobTotals, TheirTextIsReadAgain) {
  JobSums sums;
  sums.Add(JobOf("1", 10, 2.5, "USD")->status());
  sums.cost["a \"strange\" \xff one"] = 1;
  const auto read = ParseJobSums(ToText(sums));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->steps, 10);
  EXPECT_EQ(read->cost.at("USD"), 2.5);
  EXPECT_EQ(read->cost.size(), 2u);
  EXPECT_EQ(ParseJobSums("{}")->steps, 0) << "of an earlier release";
}

TEST(JobTotals, DamagedTextIsNoReasonNotToStart) {
  for (const char* damaged : {"", "[]", "{\"steps\": -1}", "{\"steps\": \"1\"}", "{\"cost\": 1}",
                              "{\"cost\": {\"USD\": null}}", "{\"steps\": 1e999}"}) {
    EXPECT_TRUE(absl::IsDataLoss(ParseJobSums(damaged).status())) << damaged;
    MemoryStore store;
    ASSERT_TRUE(store.Put(kForgottenJobsKey, damaged).ok());
    JobTotals totals;
    EXPECT_TRUE(totals.Load(store).ok());
    EXPECT_EQ(totals.Sum(Jobs()), JobSums());
  }
}

TEST(JobSums, WhatWasShownDoesNotFall) {
  JobSums shown, now;
  shown.steps = 10;
  shown.cost["USD"] = 3;
  now.steps = 7;
  now.steps_redone = 2;
  now.cost["USD"] = 4;
  now.cost["EUR"] = 1;
  shown.Raise(now);
  EXPECT_EQ(shown.steps, 10);
  EXPECT_EQ(shown.steps_redone, 2);
  EXPECT_EQ(shown.cost["USD"], 4);
  EXPECT_EQ(shown.cost["EUR"], 1);
}

}  // namespace
}  // namespace rekindle::coordinator
