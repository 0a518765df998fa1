#include "cli/list/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double kNow = 1'000'000;

v1::Job Job(const std::string& name, v1::JobState state, double age) {
  v1::Job job;
  job.set_name(name);
  job.mutable_status()->set_state(state);
  job.mutable_status()->set_submitted_at(kNow - age);
  job.mutable_status()->mutable_resolved_spec()->mutable_training()->set_steps(100);
  return job;
}

std::vector<std::string> Names(const std::vector<JobRow>& rows) {
  std::vector<std::string> names;
  for (const JobRow& row : rows) names.push_back(row.name);
  return names;
}

TEST(JobTableTest, NamesOfStates) {
  EXPECT_THAT(StatesNamed("paused"), ElementsAre(v1::PAUSED));
  EXPECT_THAT(StatesNamed("over"), ElementsAre(v1::SUCCEEDED, v1::FAILED, v1::CANCELLED));
  EXPECT_THAT(StatesNamed("active"), ElementsAre(v1::PENDING, v1::RUNNING, v1::PAUSED, v1::FINISHING, v1::FOUND));
}

TEST(JobTableTest, StatesHaveTheNamesThatJobsShow) {
  EXPECT_THAT(JobStateNames(), ElementsAre("active", "over", "pending", "running", "paused", "succeeded", "failed",
                                           "cancelled", "finishing", "found"));
}

TEST(JobTableTest, SecondsLeftAreKnownOfJobsThatRun) {
  v1::Job job = Job("a", v1::RUNNING, 10);
  job.mutable_status()->set_step(40);
  EXPECT_FALSE(SecondsLeft(job).has_value());
  job.mutable_status()->set_step_seconds(2.5);
  EXPECT_DOUBLE_EQ(SecondsLeft(job).value(), 150);
  job.mutable_status()->set_state(v1::PAUSED);
  EXPECT_FALSE(SecondsLeft(job).has_value());
}

TEST(JobTableTest, Orders) {
  v1::Job high = Job("high", v1::RUNNING, 30);
  high.mutable_status()->mutable_resolved_spec()->set_priority(10);
  high.mutable_status()->set_step_seconds(1);
  v1::Job dear = Job("dear", v1::FAILED, 20);
  dear.mutable_status()->mutable_cost()->set_spent(50);
  v1::Job soon = Job("soon", v1::RUNNING, 10);
  soon.mutable_status()->set_step(99);
  soon.mutable_status()->set_step_seconds(1);
  const std::vector<JobRow> rows = {RowOf(high, kNow), RowOf(dear, kNow), RowOf(soon, kNow)};
  const auto sorted = [&](const std::string& order) {
    std::vector<JobRow> copy = rows;
    SortJobs(order, &copy);
    return Names(copy);
  };
  EXPECT_THAT(sorted("age"), ElementsAre("high", "dear", "soon"));
  EXPECT_THAT(sorted("name"), ElementsAre("dear", "high", "soon"));
  EXPECT_THAT(sorted("priority"), ElementsAre("high", "dear", "soon"));
  EXPECT_THAT(sorted("eta"), ElementsAre("soon", "high", "dear"));
  EXPECT_THAT(sorted("spent"), ElementsAre("dear", "high", "soon"));
  EXPECT_THAT(sorted("state"), ElementsAre("dear", "high", "soon"));
  for (const std::string& order : JobOrders()) EXPECT_EQ(sorted(order).size(), rows.size());
}

TEST(JobTableTest, ATerminalOf80ColumnsShowsAgeAndEta) {
  v1::Job job = Job("night-run", v1::RUNNING, 7380);
  v1::JobStatus& status = *job.mutable_status();
  status.set_step(40);
  status.set_step_seconds(60);
  status.set_loss(1.23456);
  status.set_reason("kept 3: " + std::string(200, 'x'));
  status.mutable_resolved_spec()->set_team("vision");
  status.mutable_resolved_spec()->set_priority(10);
  const std::string text = JobTable({RowOf(job, kNow)}).Text(80);
  EXPECT_THAT(text, HasSubstr("night-run"));
  EXPECT_THAT(text, HasSubstr("2h3m"));
  EXPECT_THAT(text, HasSubstr("1h"));
  EXPECT_THAT(text, HasSubstr("vision"));
  EXPECT_THAT(text, Not(HasSubstr("GENERATION")));
  EXPECT_LE(text.find('\n'), 80u);
  const std::string wide = JobTable({RowOf(job, kNow)}).Text(0);
  for (const char* head : {"PRIORITY", "TEAM", "LOSS", "GENERATION"}) EXPECT_THAT(wide, HasSubstr(head));
  EXPECT_THAT(wide, HasSubstr(std::string(200, 'x')));
}

}  // namespace
}  // namespace rekindle::cli
