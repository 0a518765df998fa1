#include "coordinator/market/cost_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

// The job used two spot nodes for two hours at a price of 1 instead of 3, and one node on demand.
v1::Job Job() {
  v1::Job job;
  job.mutable_status()->set_state(v1::RUNNING);
  job.mutable_status()->set_step(100);
  v1::Cost& cost = *job.mutable_status()->mutable_cost();
  cost.set_currency("USD");
  cost.set_hours(2);
  cost.set_spent(10);
  cost.set_on_demand(18);
  v1::PoolCost& spot = *cost.add_pools();
  spot.set_capacity("spot");
  spot.set_node_hours(4);
  spot.set_spent(4);
  spot.set_on_demand(12);
  spot.set_on_demand_known(true);
  v1::PoolCost& on_demand = *cost.add_pools();
  on_demand.set_capacity("on_demand");
  on_demand.set_node_hours(2);
  on_demand.set_spent(6);
  on_demand.set_on_demand(6);
  on_demand.set_on_demand_known(true);
  return job;
}

Saving By(const v1::Job& job, const std::string& by) {
  for (const Saving& saving : SavingsOf(job)) {
    if (saving.by == by) return saving;
  }
  ADD_FAILURE() << "no line " << by;
  return {};
}

TEST(Money, SpotIsComparedWithTheSameNodeHours) {
  v1::Job job = Job();
  EXPECT_DOUBLE_EQ(By(job, "spot").amount, 8);
  EXPECT_EQ(By(job, "spot").how, "4.000 node-hours on spot for 4.00 USD; on demand they cost 12.00 USD");
  EXPECT_EQ(DescribeOnDemand(job.status().cost()), "18.00 USD for the same node-hours: 44.4 % saved");
  job.mutable_status()->mutable_cost()->mutable_pools(0)->set_on_demand_known(false);
  EXPECT_EQ(By(job, "spot").amount, 0);
  EXPECT_THAT(By(job, "spot").how, HasSubstr("the on-demand price of 4.000 node-hours is not in the fleet file"));
  job.mutable_status()->mutable_cost()->mutable_pools()->DeleteSubrange(0, 1);
  EXPECT_EQ(By(job, "spot").how, "no node was of a spot pool");
}

TEST(Money, RecoveryCountsWhatARestartWouldHaveRedone) {
  v1::Job job = Job();
  EXPECT_THAT(By(job, "recovery").how, HasSubstr("no worker was lost"));
  job.mutable_status()->set_interruptions(2);
  EXPECT_THAT(By(job, "recovery").how, HasSubstr("2 interruptions, none beyond the newest checkpoint"));
  job.mutable_status()->mutable_cost()->set_rework_steps_saved(30);
  job.mutable_status()->mutable_cost()->set_rework_saved(0.5);
  EXPECT_EQ(By(job, "recovery").amount, 0.5);
  EXPECT_THAT(By(job, "recovery").how, HasSubstr("30 steps lay between"));
}

TEST(Money, WhatIsNotCountedSaysSo) {
  v1::Job job = Job();
  v1::JobSpec& spec = *job.mutable_status()->mutable_resolved_spec();
  EXPECT_THAT(By(job, "off_peak").how, HasSubstr("spec.goals.off_peak is not set"));
  EXPECT_THAT(By(job, "carbon").how, HasSubstr("spec.goals.objective is not greenest"));
  spec.mutable_goals()->add_off_peak();
  spec.mutable_goals()->set_objective("greenest");
  EXPECT_EQ(By(job, "off_peak").amount, 0);
  EXPECT_THAT(By(job, "off_peak").how, HasSubstr("it has held no node whose price is known"));
  EXPECT_EQ(By(job, "carbon").kg_co2, 0);
  EXPECT_THAT(By(job, "carbon").how, HasSubstr("was not known"));
  EXPECT_EQ(DescribeCarbon(job.status().cost()), "not known");
}

TEST(Money, StepsWithFewerWorkersAreWhatElasticitySaves) {
  v1::Job job = Job();
  v1::JobSpec::Workers& workers = *job.mutable_status()->mutable_resolved_spec()->mutable_workers();
  v1::Cost& cost = *job.mutable_status()->mutable_cost();
  workers.set_min(4);
  workers.set_max(4);
  EXPECT_THAT(By(job, "elasticity").how, HasSubstr("as one of fixed size does"));
  workers.set_min(1);
  EXPECT_EQ(By(job, "elasticity").how, "no step of it has been counted yet");
  cost.set_most_workers(4);
  EXPECT_EQ(By(job, "elasticity").how, "what its nodes cost is not known");
  cost.set_most_node_hours(12);
  cost.set_most_spent(5);
  EXPECT_EQ(By(job, "elasticity").amount, 0);
  EXPECT_THAT(By(job, "elasticity").how, HasSubstr("all its steps were made with 4 workers, the most it has had"));
  cost.set_fewer_node_hours(8.2);
  cost.set_fewer_spent(3.1);
  EXPECT_DOUBLE_EQ(By(job, "elasticity").amount, 3.1);
  EXPECT_EQ(
      By(job, "elasticity").how,
      "8.200 node-hours of steps with fewer than 4 workers: a job of fixed size of 4 that keeps its nodes while it "
      "waits would have paid 3.10 USD for no step");
}

TEST(Money, HoursAreHeldAgainstTheMeanSinceTheSubmit) {
  v1::Job job = Job();
  v1::JobSpec& spec = *job.mutable_status()->mutable_resolved_spec();
  spec.mutable_goals()->add_off_peak();
  spec.mutable_goals()->set_objective("greenest");
  v1::Cost& cost = *job.mutable_status()->mutable_cost();
  cost.set_node_hours(6);
  cost.set_carbon_node_hours(4);
  cost.set_kg_co2(0.2);
  v1::PoolCost& line = *cost.mutable_pools(0);
  line.set_mean_price(1.5);
  line.set_mean_price_hours(8);
  line.set_kwh(2);
  line.set_kg_co2(0.2);
  line.set_mean_intensity(250);
  line.set_mean_intensity_hours(8);
  EXPECT_DOUBLE_EQ(By(job, "off_peak").amount, 2);
  EXPECT_THAT(By(job, "off_peak").how, HasSubstr("4.000 node-hours cost 4.00 USD; at the mean price of their pools"));
  EXPECT_DOUBLE_EQ(By(job, "carbon").kg_co2, 0.3);
  EXPECT_EQ(By(job, "carbon").amount, 0);
  EXPECT_THAT(By(job, "carbon").how, HasSubstr("2.000 kWh emitted 0.200 kg CO2; at the mean intensity of their regions "
                                               "since the submit it is 0.500 kg CO2"));
  EXPECT_EQ(DescribeCarbon(cost), "0.200 kg CO2, without 2.000 node-hours of which it is not known");
}

TEST(Money, LeversAreCountedAtTheMeanRate) {
  v1::Job job = Job();
  EXPECT_THAT(By(job, "levers").how, HasSubstr("no lever has ended"));
  v1::LeverStatus& lever = *job.mutable_status()->add_levers();
  lever.set_lever("early_stop");
  lever.set_seconds_saved(1800);
  // The job spent 10 in 2 h, so the half hour that early_stop saved would have cost 2.5.
  EXPECT_DOUBLE_EQ(By(job, "levers").amount, 2.5);
  EXPECT_THAT(By(job, "levers").how, HasSubstr("early_stop saved 1800.0 s, at the job's mean rate of 5.00 USD"));
}

TEST(Money, ForecastsSayWhyThereIsNone) {
  v1::Job job = Job();
  EXPECT_THAT(DescribeForecast(job), HasSubstr("while no priced node is held"));
  job.mutable_status()->set_step(0);
  EXPECT_THAT(DescribeForecast(job), HasSubstr("before a step is measured"));
  v1::Cost& cost = *job.mutable_status()->mutable_cost();
  cost.set_forecast(20);
  cost.set_forecast_low(19);
  cost.set_forecast_high(21);
  EXPECT_EQ(DescribeForecast(job), "20.00 USD (19.00 USD to 21.00 USD) when it is done");
  cost.set_budget(15);
  EXPECT_THAT(DescribeForecast(job), HasSubstr(": more than the budget"));
  EXPECT_EQ(DescribeBudget(cost), "15.00 USD, 66.7 % of it spent");
  job.mutable_status()->set_state(v1::SUCCEEDED);
  EXPECT_THAT(DescribeForecast(job), HasSubstr("the job is over"));
}

TEST(Money, ATeamsCostsAddUp) {
  v1::ListJobsReply jobs;
  *jobs.add_jobs() = Job();
  *jobs.add_jobs() = Job();
  v1::Cost total = TotalOf(jobs);
  EXPECT_EQ(total.spent(), 20);
  EXPECT_EQ(total.on_demand(), 36);
  EXPECT_EQ(total.currency(), "USD");
  // Neither job has a forecast, so the team has none.
  EXPECT_EQ(ForecastRange(total), "-");
  v1::Cost& cost = *jobs.mutable_jobs(0)->mutable_status()->mutable_cost();
  cost.set_forecast(20);
  cost.set_forecast_low(19);
  cost.set_forecast_high(21);
  EXPECT_EQ(ForecastRange(TotalOf(jobs)), "-");
  jobs.mutable_jobs(1)->mutable_status()->set_state(v1::SUCCEEDED);
  EXPECT_EQ(ForecastRange(TotalOf(jobs)), "30.00 USD (29.00 USD to 31.00 USD)");
}

}  // namespace
}  // namespace rekindle::coordinator
