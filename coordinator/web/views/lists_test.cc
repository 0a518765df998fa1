// Tests that lists of jobs and nodes are filtered, sorted and cut into pages.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "coordinator/web/testing/prepared_source_testing.h"
#include "coordinator/web/views/job_rows.h"
#include "coordinator/web/views/node_rows.h"

namespace rekindle::coordinator::web {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

common::PageRequest Asking(const std::map<std::string, std::string>& query) {
  return {.method = "GET", .path = "/api/jobs", .query = query, .headers = {}};
}

JobPointer Job(const std::string& name, v1::JobState state, double spent, const std::string& team = "") {
  v1::Job job;
  job.set_name(name);
  job.set_uid("uid-" + name);
  job.mutable_status()->set_state(state);
  job.mutable_status()->mutable_cost()->set_spent(spent);
  job.mutable_status()->mutable_cost()->set_currency("EUR");
  job.mutable_status()->mutable_resolved_spec()->set_team(team);
  return std::make_shared<const v1::Job>(job);
}

std::vector<std::string> Names(const std::vector<JobPointer>& jobs, const std::map<std::string, std::string>& query) {
  const auto read = ListQuery::Parse(Asking(query), JobSorts());
  EXPECT_TRUE(read.ok()) << read.status();
  std::vector<std::string> names;
  const json answer = json::parse(JobListJson(jobs, *read));
  for (const json& row : answer["jobs"]) names.push_back(row["job"]["name"]);
  return names;
}

TEST(ListQuery, WrongOnesAreNamed) {
  const auto refusal = [](const std::map<std::string, std::string>& query) {
    return std::string(ListQuery::Parse(Asking(query), JobSorts()).status().message());
  };
  EXPECT_THAT(refusal({{"sort", "size"}}), HasSubstr("sort: must be one of submitted, name"));
  EXPECT_THAT(refusal({{"order", "sideways"}}), HasSubstr("order"));
  EXPECT_THAT(refusal({{"limit", "101"}}), HasSubstr("limit"));
  EXPECT_THAT(refusal({{"offset", "-1"}}), HasSubstr("offset"));
  EXPECT_THAT(refusal({{"offset", "99999999999999999999"}}), HasSubstr("offset"));
}

TEST(ListQuery, EqualQuestionsHaveOneKey) {
  const auto key = [](const std::map<std::string, std::string>& query) {
    return ListQuery::Parse(Asking(query), JobSorts())->Key();
  };
  EXPECT_EQ(key({}), key({{"limit", "100"}, {"sort", "submitted"}, {"unknown", "x"}}));
  EXPECT_NE(key({{"q", "a"}}), key({{"team", "a"}}));
  EXPECT_NE(key({{"q", "a\" \"b"}}), key({{"q", "a"}, {"state", "b"}}));
}

TEST(JobList, IsSortedFilteredAndCut) {
  const std::vector<JobPointer> jobs = {Job("Alpha", v1::RUNNING, 3, "blue"), Job("beta", v1::FAILED, 1, "red"),
                                        Job("gamma", v1::PENDING, 2, "red"), Job("alphabet", v1::SUCCEEDED, 2, "blue")};
  EXPECT_THAT(Names(jobs, {{"sort", "name"}}), ElementsAre("Alpha", "alphabet", "beta", "gamma"));
  EXPECT_THAT(Names(jobs, {{"sort", "spent"}, {"order", "down"}}), ElementsAre("Alpha", "gamma", "alphabet", "beta"));
  EXPECT_THAT(Names(jobs, {{"sort", "name"}, {"q", "ALPHA"}}), ElementsAre("Alpha", "alphabet"));
  EXPECT_THAT(Names(jobs, {{"sort", "name"}, {"q", "uid-be"}}), ElementsAre("beta"));
  EXPECT_THAT(Names(jobs, {{"sort", "name"}, {"team", "red"}}), ElementsAre("beta", "gamma"));
  EXPECT_THAT(Names(jobs, {{"sort", "name"}, {"state", "RUNNING"}}), ElementsAre("Alpha"));
  EXPECT_THAT(Names(jobs, {{"sort", "name"}, {"state", "active"}}), ElementsAre("Alpha", "gamma"));
  EXPECT_THAT(Names(jobs, {{"sort", "name"}, {"offset", "1"}, {"limit", "2"}}), ElementsAre("alphabet", "beta"));
  EXPECT_THAT(Names(jobs, {{"offset", "1000000"}}), ElementsAre());
  const json answer =
      json::parse(JobListJson(jobs, *ListQuery::Parse(Asking({{"team", "red"}, {"limit", "1"}}), JobSorts())));
  EXPECT_EQ(answer["matching"], 2);
  EXPECT_EQ(answer["all"], 4);
  EXPECT_EQ(answer["jobs"].size(), 1u);
}

TEST(JobList, NumbersThatAreNoneComeLastAndBreakNoOrder) {
  std::vector<JobPointer> jobs;
  for (int i = 0; i < 500; ++i) {
    v1::Job job = PreparedJob(i, 500, 0);
    if (i % 3 == 0) job.mutable_status()->set_loss(std::numeric_limits<double>::quiet_NaN());
    jobs.push_back(std::make_shared<const v1::Job>(job));
  }
  const json answer =
      json::parse(JobListJson(jobs, *ListQuery::Parse(Asking({{"sort", "loss"}, {"offset", "330"}}), JobSorts())));
  EXPECT_TRUE(answer["jobs"][0]["job"]["status"]["loss"].is_number());
  EXPECT_EQ(answer["jobs"][99]["job"]["status"]["loss"], "NaN");
  for (const std::string& sort : JobSorts())
    EXPECT_EQ(Names(jobs, {{"sort", sort}, {"order", "down"}}).size(), 100u) << sort;
}

TEST(JobList, ALineHasNoCurve) {
  PreparedSource source(1, 0);
  const std::string text = JobListJson(*source.Jobs(), *ListQuery::Parse(Asking({}), JobSorts()));
  EXPECT_LT(text.size(), 2000u);
  const json row = json::parse(text)["jobs"][0];
  EXPECT_EQ(row["members"], 3);
  EXPECT_EQ(row["job"]["status"]["state"], "RUNNING");
  EXPECT_EQ(row["job"]["status"]["resolved_spec"]["training"]["steps"], 10'000);
  EXPECT_FALSE(row["job"]["status"].contains("loss_curve"));
  EXPECT_FALSE(row["job"]["status"].contains("members"));
}

TEST(JobList, TotalsAndTeams) {
  const std::vector<JobPointer> jobs = {Job("a", v1::RUNNING, 3, "blue"), Job("b", v1::RUNNING, 1, "red"),
                                        Job("c", v1::FAILED, 4, "red"), Job("d", v1::PENDING, 0)};
  const JobTotals totals = TotalsOf(jobs);
  EXPECT_EQ(totals.states.at("RUNNING"), 2);
  EXPECT_EQ(totals.currency, "EUR");
  EXPECT_THAT(totals.teams, ElementsAre("blue", "red"));
  const json teams = json::parse(TeamsJson(jobs));
  EXPECT_EQ(teams["all"], 3);
  EXPECT_EQ(teams["teams"][0]["team"], "red");
  EXPECT_EQ(teams["teams"][0]["jobs"], 2);
  EXPECT_EQ(teams["teams"][0]["active"], 1);
  EXPECT_EQ(teams["teams"][0]["total"]["spent"], 5);
  EXPECT_EQ(teams["teams"][2]["team"], "");
}

TEST(JobList, ManyTeamsAreCutToTheDearest) {
  std::vector<JobPointer> jobs;
  for (int i = 0; i < 1000; ++i) jobs.push_back(Job(absl::StrCat(i), v1::RUNNING, i, absl::StrCat("team ", i)));
  EXPECT_EQ(TotalsOf(jobs).teams.size(), kMostTeams);
  const json teams = json::parse(TeamsJson(jobs));
  EXPECT_EQ(teams["all"], 1000);
  ASSERT_EQ(teams["teams"].size(), kMostTeams);
  EXPECT_EQ(teams["teams"][0]["team"], "team 999");
}

TEST(NodeList, IsSortedFilteredAndSummed) {
  PreparedSource source(0, 300);
  const auto nodes = *source.Nodes();
  const auto ask = [&](const std::map<std::string, std::string>& query) {
    const auto read = ListQuery::Parse(Asking(query), NodeSorts());
    EXPECT_TRUE(read.ok()) << read.status();
    return json::parse(NodeListJson(nodes, *read));
  };
  EXPECT_EQ(ask({})["nodes"].size(), 100u);
  EXPECT_EQ(ask({})["nodes"][0]["name"], "node-00000");
  EXPECT_EQ(ask({{"order", "down"}})["nodes"][0]["name"], "node-00299");
  EXPECT_EQ(ask({{"state", "lost"}})["matching"], 6);
  EXPECT_EQ(ask({{"pool", "pool-3"}})["matching"], 25);
  EXPECT_EQ(ask({{"q", "0029"}})["matching"], 11);
  EXPECT_EQ(ask({{"sort", "trainers"}, {"order", "down"}})["nodes"][0]["trainers"].size(), 8u);
  for (const std::string& sort : NodeSorts()) EXPECT_EQ(ask({{"sort", sort}})["nodes"].size(), 100u) << sort;
  const NodeTotals totals = TotalsOf(nodes);
  EXPECT_EQ(totals.states.at("lost"), 6);
  EXPECT_EQ(totals.slots, 8 * 294);
  const json pools = json::parse(PoolsJson(*source.Pools(), nodes));
  EXPECT_EQ(pools["currency"], "USD");
  EXPECT_EQ(pools["pools"][2]["name"], "pool-2");
  EXPECT_EQ(pools["pools"][2]["nodes"], 25);
  EXPECT_EQ(pools["pools"][2]["intensity"], 182);
  EXPECT_FALSE(pools["pools"][1].contains("intensity"));
}

}  // namespace
}  // namespace rekindle::coordinator::web
