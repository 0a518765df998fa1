#include "cli/simulation/submit_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

EstimateReport Report() {
  fleet::Estimate planner{.policy = "planner", .meaning = "what Rekindle does", .worlds = 8};
  planner.cost = {40, 50.5, 60};
  planner.finish_hours = {20, 22, 30};
  planner.interruptions = {0, 3, 7};
  planner.kg_co2 = {5, 5, 5};
  planner.carbon_known = true;
  planner.missed = 1;
  fleet::Estimate on_demand{.policy = "on_demand", .meaning = "on-demand capacity only"};
  on_demand.left_out = "no on-demand pool of the fleet has room for 4 nodes";
  return {.job = "night-run",
          .source = "made-up spot capacity",
          .currency = "EUR",
          .deadline = 24,
          .budget = 55,
          .estimates = {planner, on_demand},
          .notes = {"made up"}};
}

TEST(Estimate, SaysMedianAndRange) {
  const std::string text = ToText(Report());
  EXPECT_THAT(text, HasSubstr("Estimate for night-run, the median and the range, on made-up spot capacity\n"));
  EXPECT_THAT(text, HasSubstr("COST EUR"));
  EXPECT_THAT(text, HasSubstr("50.50 (40.00 to 60.00)"));
  EXPECT_THAT(text, HasSubstr("22.0 (20.0 to 30.0) h"));
  EXPECT_THAT(text, HasSubstr("3 (0 to 7)"));
  // If all values of a cost are equal, the text has one figure instead of a range.
  EXPECT_THAT(text, HasSubstr(" 5.0  "));
  EXPECT_THAT(text, HasSubstr("left out: no on-demand pool"));
  EXPECT_THAT(
      text, HasSubstr("planner: done in all, by the deadline of 24.0 h in 7 of 8, within the budget of 55.00 in all"));
  EXPECT_THAT(text, Not(HasSubstr("on_demand: done")));
  EXPECT_THAT(text, HasSubstr("note: made up"));
}

TEST(Estimate, ComparesWithOnDemandAndWithNoBudget) {
  EstimateReport report = Report();
  report.estimates[1].left_out.clear();
  report.estimates[1].cost = {100, 101, 102};
  report.estimates[1].worlds = 8;
  report.estimates[0].needs = {56, 58, 60};
  const std::string text = ToText(report);
  EXPECT_THAT(text, HasSubstr("it would take 58.00 (56.00 to 60.00); costs 50.0 % less than on_demand\n"));
  EXPECT_EQ(ToJson(report)["estimate"]["policies"][0]["needs_budget"]["low"], 56);
}

TEST(Estimate, WhatIsNeverDoneOrNotKnownHasNoFigures) {
  EstimateReport report = Report();
  report.deadline = report.budget = scheduler::kNever;
  report.estimates[0].carbon_known = false;
  EXPECT_THAT(ToText(report), Not(HasSubstr("5.0  ")));
  EXPECT_THAT(ToText(report), HasSubstr("planner: done in all\n"));
  EXPECT_FALSE(ToJson(report)["estimate"]["policies"][0].contains("kg_co2"));
  EXPECT_FALSE(ToJson(report)["estimate"].contains("budget"));
  report.estimates[0].unfinished = 8;
  EXPECT_THAT(ToText(report), HasSubstr("is never done"));
  EXPECT_FALSE(ToJson(report)["estimate"]["policies"][0].contains("cost"));
}

TEST(Estimate, AStepIsTakenFromAnEarlierJob) {
  v1::Job earlier;
  earlier.set_uid("0123");
  v1::JobSpec spec;
  spec.mutable_workers()->set_max(4);
  // The estimate takes the time of a step from an earlier job. This earlier job has made no step, so there is no
  // measured time.
  EXPECT_EQ(UseMeasuredStep(earlier, &spec), "");
  earlier.mutable_status()->set_step_seconds(6);
  EXPECT_EQ(UseMeasuredStep(earlier, &spec),
            "a step takes 6.000 s on 4 nodes (taken for workers.max: they are gone), as measured of job 0123");
  EXPECT_EQ(spec.estimate().step_seconds(), 6);
  spec.clear_estimate();
  earlier.mutable_status()->add_members();
  EXPECT_EQ(UseMeasuredStep(earlier, &spec), "a step takes 6.000 s on 1 node, as measured of job 0123");
  EXPECT_EQ(spec.estimate().step_seconds(), 1.5);
  // The spec of the estimated job now says itself how long a step takes, so the time that was measured of the earlier
  // job is not used.
  EXPECT_EQ(UseMeasuredStep(earlier, &spec), "");
}

TEST(Estimate, AsJsonForScripts) {
  const nlohmann::json all = ToJson(Report())["estimate"];
  EXPECT_EQ(all["currency"], "EUR");
  EXPECT_EQ(all["budget"], 55);
  const nlohmann::json planner = all["policies"][0];
  EXPECT_EQ(planner["plays"], 8);
  EXPECT_EQ(planner["missed_deadline"], 1);
  EXPECT_EQ(planner["cost"]["median"], 50.5);
  EXPECT_EQ(planner["kg_co2"]["high"], 5);
  EXPECT_THAT(std::string(all["policies"][1]["left_out"]), HasSubstr("no on-demand pool"));
}

}  // namespace
}  // namespace rekindle::cli
