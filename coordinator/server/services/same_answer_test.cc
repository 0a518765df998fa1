// Tests that SubmitJob and ValidateJob give the same answer, and that for every check in the table of spec/job_checks.h
// there is a job that only this check refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "absl/strings/str_split.h"
#include "coordinator/spec/job_checks.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/store/testing/memory_store.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

// Describes a job that is good except for the mistake that one check exists for.
struct Case {
  std::function<void(v1::Job&)> change;
  std::string says;
  std::function<void(CoordinatorServer::Options&)> options = [](auto&) {};
  // `before` runs after the coordinator has started, and before the test submits or validates the job.
  std::function<void()> before = [] {};
};

v1::JobSpec& Spec(v1::Job& job) { return *job.mutable_spec(); }

class SameAnswerTest : public ServerFixture {
 protected:
  absl::StatusOr<v1::Job> Validate(const v1::Job& job) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ValidateJobRequest request;
    *request.mutable_job() = job;
    return Checked<v1::Job>([&](v1::Job* reply) { return users_->ValidateJob(&context, request, reply); });
  }

  // Returns the names of the checks that, each by itself, refuse the job when only `facts` are known.
  std::vector<std::string> Refusing(const v1::Job& job, const Facts& facts) {
    const Defaults& settings = facts.settings == nullptr ? UnknownSettings() : *facts.settings;
    const v1::JobSpec resolved = FillSpec(job.spec(), settings);
    std::vector<std::string> names;
    for (const JobCheck& row : JobChecks()) {
      Checker check;
      if (IsRun(row, facts)) row.run({job, resolved}, facts, check);
      if (!check.status().ok()) names.emplace_back(row.name);
    }
    return names;
  }

  // Expects that the coordinator refuses the job with a message that contains `says` and names no other mistake, both
  // in SubmitJob and in ValidateJob.
  void ExpectRefused(const v1::Job& job, const std::string& says) {
    const absl::Status validated = Validate(job).status();
    const absl::Status submitted = Submit(job).status();
    EXPECT_EQ(validated, submitted);
    EXPECT_THAT(std::string(validated.message()), HasSubstr(says));
    EXPECT_THAT(std::string(validated.message()), Not(HasSubstr("\n"))) << "one mistake, one problem";
  }

  // Returns the cases of checks that need nothing but the job.
  std::map<std::string, Case> CasesOfTheJob() {
    return {
        {"name", {[](auto& job) { job.set_name("Bad Name"); }, "name: 'Bad Name' must be 1 to 63"}},
        {"seed, priority and team", {[&](auto& job) { Spec(job).set_priority(5000); }, "spec.priority: 5000"}},
        {"workers", {[&](auto& job) { Spec(job).mutable_workers()->set_min(-1); }, "spec.workers.min: -1 is out"}},
        {"model", {[&](auto& job) { Spec(job).mutable_model()->set_dropout(1); }, "spec.model.dropout: 1 is out"}},
        {"data",
         {[&](auto& job) { Spec(job).mutable_data()->set_validation_fraction(0.95); },
          "spec.data.validation_fraction"}},
        {"training", {[&](auto& job) { Spec(job).mutable_training()->set_clip_norm(-1); }, "spec.training.clip_norm"}},
        {"optimizer",
         {[&](auto& job) { Spec(job).mutable_optimizer()->set_learning_rate(-1); }, "spec.optimizer.learning_rate"}},
        {"schedule",
         {[&](auto& job) { Spec(job).mutable_schedule()->set_final_ratio(2); }, "spec.schedule.final_ratio: 2 is out"}},
        {"checkpoint",
         {[&](auto& job) { Spec(job).mutable_checkpoint()->set_keep_last(-1); }, "spec.checkpoint.keep_last: -1"}},
        {"goals",
         {[&](auto& job) { Spec(job).mutable_goals()->set_objective("best"); }, "spec.goals.objective: 'best'"}},
        {"off-peak hours",
         {[&](auto& job) { Spec(job).mutable_goals()->add_off_peak()->set_from("25:99"); },
          "spec.goals.off_peak[0].from: '25:99' is not a time of the day"}},
        {"estimate for a deadline",
         {[&](auto& job) { Spec(job).mutable_goals()->set_deadline_hours(5); },
          "spec.estimate.step_seconds: is missing"}},
        {"levers", {[&](auto& job) { Spec(job).mutable_early_stop(); }, "spec.early_stop: follows the evaluations"}},
        {"recovery",
         {[&](auto& job) { Spec(job).mutable_recovery()->set_lease("10m"); },
          "spec.recovery.lease: '10m' is no number"}},
        {"size",
         {[&](auto& job) {
            const std::string path = folder_ + std::string(900, '/') + "text.txt";
            for (int i = 0; i < 100; ++i) Spec(job).mutable_data()->add_text(path);
          },
          "name files by globs"}},
    };
  }

  // Returns the cases of checks that need the coordinator's settings or files.
  std::map<std::string, Case> CasesOfSettings() {
    return {
        {"precision policy",
         {[&](auto& job) { Spec(job).mutable_training()->set_precision("fp32"); }, "computes all jobs in 'bf16'",
          [](auto& options) {
            options.defaults.precision = "bf16";
            options.defaults.precision_policy = "enforce";
          }}},
        {"default store",
         {[&](auto& job) { Spec(job).mutable_checkpoint()->set_archive_store(options_.defaults.store); },
          "spec.checkpoint.archive_store: is spec.checkpoint.store"}},
        {"code of users",
         {[&](auto& job) { MakeOwn(job); },
          "spec.model.python: this coordinator takes no code of users: start rekindle-coordinator with --allow-code on",
          [](auto& options) { options.allow_code = "off"; }}},
        {"data roots",
         {[&](auto& job) {
            Spec(job).mutable_model()->set_weights("/etc/shadow");
            Spec(job).mutable_model()->set_weights_digest(std::string(32, '0'));
          },
          "spec.model.weights: /etc/shadow is outside of what jobs may read here: " + folder_,
          [&](auto& options) { options.data_roots = {folder_}; }}},
        {"servers of stores",
         {[&](auto& job) {
            Spec(job).mutable_checkpoint()->set_store("s3://bucket/a?endpoint_override=evil.example:9000");
          },
          "spec.checkpoint.store: endpoint_override=evil.example:9000 is none of the servers"}},
        {"data files", {[&](auto& job) { Spec(job).mutable_data()->set_text(0, folder_ + "/none.txt"); }, "none.txt"}},
        {"checkpoint folder",
         {[&](auto& job) { Spec(job).mutable_checkpoint()->set_store("file://" + folder_ + "/text.txt"); },
          "spec.checkpoint.store: " + folder_ + "/text.txt is a file: name a folder"}},
    };
  }

  // Returns the cases of checks that need the cluster's state.
  std::map<std::string, Case> CasesInTheCluster() {
    return {
        {"room for a job",
         {[](auto& job) { job.set_name("second"); }, "1 jobs are active, the most there may be",
          [](auto& options) { options.max_active_jobs = 1; }, [&] { ASSERT_TRUE(Submit(JobNamed("first")).ok()); }}},
        {"name in use",
         {[](auto& job) { job.set_name("first"); },
          "name: job first exists already; choose another name, or `rekindle cancel first` first", [](auto&) {},
          [&] { ASSERT_TRUE(Submit(JobNamed("first")).ok()); }}},
        {"precision of the nodes",
         {[&](auto& job) { Spec(job).mutable_training()->set_precision("fp16"); },
          "spec.training.precision: the nodes are not fit for fp16",
          [](auto& options) { options.defaults.precision_policy = "refuse"; },
          [&] {
            v1::NodeReport report = AgentReport("plain");
            report.mutable_device()->set_kind("cpu");
            ASSERT_TRUE(Sync(report).ok());
          }}},
        {"interpreters of the nodes",
         {[&](auto& job) { MakeOwn(job); },
          "spec.model.python: no node can run it (node plain: it runs no code of users", [](auto&) {},
          [&] { ASSERT_TRUE(Sync(AgentReport("plain")).ok()); }}},
        {"budget",
         {[&](auto& job) { Spec(job).mutable_goals()->set_budget(5); }, "spec.goals.budget: nobody knows what a node"}},
        {"goals on the fleet",
         {[&](auto& job) { Spec(job).mutable_goals()->set_objective("cheapest"); },
          "spec.goals.objective: there are no pools to plan on"}},
    };
  }

  // Makes the job one with the user's own model.
  void MakeOwn(v1::Job& job) {
    Spec(job).clear_data();
    *Spec(job).mutable_model() = {};
    Spec(job).mutable_model()->set_python("train:task");
    Spec(job).mutable_model()->set_folder(folder_);
  }

  // Starts a new coordinator with the options of the case, and expects that only the check `row` refuses the job of the
  // case.
  void ExpectOnlyRefusedBy(const JobCheck& row, const Case& one) {
    one.options(options_);
    server_.reset();
    std::filesystem::remove_all(options_.data);
    Start();
    one.before();
    v1::Job job = JobNamed("good");
    const bool is_crowded = row.name == std::string("room for a job");
    EXPECT_NE(Validate(job).ok(), is_crowded) << Validate(job).status();
    one.change(job);
    ExpectRefused(job, one.says);

    const bool in_cluster = (row.needs & kCluster) != 0;
    const std::vector<std::string> alone = in_cluster ? std::vector<std::string>() : std::vector<std::string>{row.name};
    const JobReach reach{.here = true,
                         .takes_code = options_.allow_code != "off",
                         .roots = data::DataRoots({folder_}, {}),
                         .endpoints = *common::StoreEndpoints::Create({}, true)};
    EXPECT_EQ(Refusing(job, {.settings = &options_.defaults, .reach = &reach, .files = true}), alone)
        << "of those outside the cluster";
    EXPECT_EQ(Refusing(job, {}).empty(), row.needs != kNothing) << "without a coordinator";
  }
};

TEST_F(SameAnswerTest, EveryCheckOfTheTableIsMadeByBothCalls) {
  options_.defaults.store = "file://" + folder_ + "/data/checkpoints";
  std::map<std::string, Case> cases = CasesOfTheJob();
  cases.merge(CasesOfSettings());
  cases.merge(CasesInTheCluster());
  const CoordinatorServer::Options usual = options_;
  for (const JobCheck& row : JobChecks()) {
    // The `rekindle` command itself checks the files of its own machine, and validate_test.py tests that check.
    if (row.needs == kOwnFiles) continue;
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(cases.contains(row.name)) << "a check of the table without a job that it refuses";
    options_ = usual;
    ExpectOnlyRefusedBy(row, cases[row.name]);
    cases.erase(row.name);
  }
  EXPECT_TRUE(cases.empty()) << "a job for a check that is not in the table: " << cases.begin()->first;
}

TEST_F(SameAnswerTest, MistakesOfAllKindsAreToldTogether) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("first")).ok());
  v1::Job job = JobNamed("first");
  job.mutable_spec()->set_priority(5000);
  job.mutable_spec()->mutable_data()->set_text(0, folder_ + "/none.txt");
  job.mutable_spec()->mutable_goals()->set_budget(5);
  job.mutable_spec()->mutable_goals()->set_objective("cheapest");
  const absl::Status validated = Validate(job).status();
  EXPECT_EQ(validated, Submit(job).status());
  const std::vector<std::string> lines = absl::StrSplit(std::string(validated.message()), '\n');
  ASSERT_EQ(lines.size(), 5u) << validated;
  const char* begins[] = {"spec.priority: ", "spec.data.text: ", "name: job first",
                          "spec.goals.budget: ", "spec.goals.objective: "};
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_THAT(lines[i], testing::StartsWith(begins[i]));
}

TEST_F(SameAnswerTest, WhatIsAcceptedIsAcceptedByBothAndOnlySubmitChangesAnything) {
  Start();
  const auto validated = Validate(JobNamed("job"));
  ASSERT_TRUE(validated.ok()) << validated.status();
  EXPECT_EQ(Get("job").status().code(), absl::StatusCode::kNotFound);
  const auto submitted = Submit(JobNamed("job"));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_EQ(validated->status().resolved_spec().SerializeAsString(),
            submitted->status().resolved_spec().SerializeAsString());
  EXPECT_EQ(Validate(JobNamed("job")).status(), Submit(JobNamed("job")).status()) << "its name is in use from now on";
}

TEST_F(SameAnswerTest, ADiskThatIsNearlyFullRefusesBoth) {
  options_.disk_space = [](const std::string&) { return DiskSpace{4 << 20, 100 << 20}; };
  Start();
  ExpectRefused(JobNamed("job"), "4.0 % free (4 MiB)");
}

TEST_F(SameAnswerTest, ValuesOfUsersFitTheAnswer) {
  Start();
  v1::Job job = JobNamed("job");
  job.mutable_spec()->mutable_model()->set_kind(std::string(1 << 20, 'x'));
  for (int i = 0; i < 500; ++i) job.mutable_spec()->mutable_data()->add_text("relative \xc3\xa4\n" + std::to_string(i));
  const absl::Status validated = Validate(job).status();
  EXPECT_EQ(validated.code(), absl::StatusCode::kInvalidArgument) << "not an answer that is too large to be sent";
  EXPECT_EQ(validated, Submit(job).status());
}

// Tests the states of the coordinator in which it neither accepts nor refuses a job, even if the job has mistakes.
class UndecidedTest : public SameAnswerTest {
 protected:
  void ExpectUndecided(absl::StatusCode code, const std::string& says) {
    for (const char* name : {"good", "Bad Name"}) {
      const absl::Status validated = Validate(JobNamed(name)).status();
      EXPECT_EQ(validated, Submit(JobNamed(name)).status());
      EXPECT_EQ(validated.code(), code);
      EXPECT_THAT(std::string(validated.message()), HasSubstr(says));
    }
  }
};

TEST_F(UndecidedTest, WhileTheStoreFails) {
  MemoryStore store;
  options_.store = &store;
  Start();
  store.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_TRUE(absl::IsUnavailable(Submit(JobNamed("first")).status())) << "it is what meets the failure";
  ExpectUndecided(absl::StatusCode::kUnavailable, "the state cannot be saved: disk full");
  server_.reset();
}

TEST_F(UndecidedTest, WhileItListensWhoLives) {
  Start();
  server_.reset();
  {
    auto store = SqliteStore::Open(options_.data + "/state.db");
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE(BeginEpoch(store->get()).ok());
  }
  options_.listen_seconds = 60;
  Start();
  ExpectUndecided(absl::StatusCode::kUnavailable, "listens who lives before it decides: try again");
}

TEST_F(UndecidedTest, AfterItWasSuperseded) {
  Start();
  const auto told = Sync(AgentReport("n1"));
  ASSERT_TRUE(told.ok()) << told.status();
  common::ClusterIdentity later = common::FromMessage(told->identity());
  ++later.epoch;
  v1::NodeReport report = AgentReport("n1");
  common::ToMessage(later, report.mutable_obeys());
  ASSERT_TRUE(Sync(report)->has_superseded_by());
  ExpectUndecided(absl::StatusCode::kFailedPrecondition, "superseded");
}

}  // namespace
}  // namespace rekindle::coordinator
