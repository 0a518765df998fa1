// Runs the verbs submit and validate against a coordinator with prepared answers, and without one.
#include "cli/job_file/validate.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/submit/job_file_verbs.h"
#include "cli/testing/job_documents_testing.h"

namespace rekindle::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Answers final : public v1::Coordinator::Service {
 public:
  grpc::Status ValidateJob(grpc::ServerContext*, const v1::ValidateJobRequest* request, v1::Job* reply) override {
    validated.push_back(request->job());
    *reply = request->job();
    const auto refusal = refuses_to_validate.find(request->job().name());
    return refusal == refuses_to_validate.end() ? grpc::Status::OK : refusal->second;
  }
  grpc::Status SubmitJob(grpc::ServerContext*, const v1::SubmitJobRequest* request, v1::Job* reply) override {
    const auto refusal = refuses_to_submit.find(request->job().name());
    if (refusal != refuses_to_submit.end()) return refusal->second;
    submitted.push_back(request->job().name());
    *reply = request->job();
    reply->set_uid("0123");
    return grpc::Status::OK;
  }

  // `refuses_to_validate` and `refuses_to_submit` map the names of jobs to the errors with which the fake coordinator
  // refuses to validate or to submit these jobs.
  std::map<std::string, grpc::Status> refuses_to_validate, refuses_to_submit;
  std::vector<v1::Job> validated;
  std::vector<std::string> submitted;
};

class VerbsTest : public JobDocumentsFixture {
 protected:
  // Runs the command and returns its exit code. The output is in `out_` and `err_`.
  int Run(std::vector<std::string> args) {
    if (server_ == nullptr && with_coordinator_) {
      grpc::ServerBuilder builder;
      builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
      builder.RegisterService(&answers_);
      server_ = builder.BuildAndStart();
    }
    Context context;
    context.flags.endpoint = "127.0.0.1:" + std::to_string(with_coordinator_ ? port_ : 1);
    CLI::App app;
    AddSubmitVerb(app, context);
    AddValidateVerb(app, context);
    app.add_option("-o", context.output);
    std::reverse(args.begin(), args.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int wrong_use = 0;
    try {
      app.parse(args);
    } catch (const CLI::ParseError& error) {
      wrong_use = app.exit(error) == 0 ? 0 : kWrongUse;
    }
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return wrong_use != 0 ? wrong_use : context.exit_code;
  }

  bool with_coordinator_ = true;
  Answers answers_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::string out_, err_;
};

TEST_F(VerbsTest, AllJobsOfAFileAreCheckedBeforeTheFirstIsSubmitted) {
  const std::string path = Write(Good("a") + "---\n" + Good("b") + "---\n" + Good("c"));
  answers_.refuses_to_validate["b"] = {grpc::StatusCode::INVALID_ARGUMENT, "spec.training.steps: is odd"};
  answers_.refuses_to_validate["c"] = {grpc::StatusCode::ALREADY_EXISTS, "name: job c exists already"};
  EXPECT_EQ(Run({"submit", path}), kFailed);
  EXPECT_THAT(err_, HasSubstr("job.yaml has 2 problems:\n" + path + ":7: spec.training.steps: is odd\n" + path +
                              ":9: name: job c exists already\n"));
  EXPECT_THAT(answers_.submitted, IsEmpty());
  const std::string refused = err_;
  EXPECT_EQ(Run({"validate", path}), kFailed);
  EXPECT_EQ(err_, refused) << "the same words";
  answers_.refuses_to_validate.clear();
  EXPECT_EQ(Run({"submit", path}), kOk);
  EXPECT_THAT(answers_.submitted, ElementsAre("a", "b", "c"));
  for (const char* name : {"a  ", "b  ", "c  "}) EXPECT_THAT(out_, HasSubstr(name));
}

TEST_F(VerbsTest, AFailureInTheMiddleSaysWhatWasSubmitted) {
  const std::string path = Write(Good("a") + "---\n" + Good("b") + "---\n" + Good("c"));
  answers_.refuses_to_submit["b"] = {grpc::StatusCode::ALREADY_EXISTS, "name: job b exists already"};
  EXPECT_EQ(Run({"submit", path}), kFailed);
  EXPECT_THAT(err_, HasSubstr("submitted: a; not submitted: b, c\n" + path + ":5: name: job b exists already\n"));
  answers_.refuses_to_submit = {{"b", {grpc::StatusCode::UNAVAILABLE, "it went away"}}};
  EXPECT_EQ(Run({"submit", path}), kUnreachable);
  EXPECT_THAT(err_, HasSubstr("submitted: a; not known: b, see `rekindle get b`; not submitted: c\n"));
  EXPECT_THAT(err_, HasSubstr("it went away"));
  answers_.refuses_to_submit = {{"a", {grpc::StatusCode::RESOURCE_EXHAUSTED, "the disk is full"}}};
  EXPECT_EQ(Run({"submit", path}), kFailed);
  EXPECT_THAT(err_, HasSubstr("submitted: none; not submitted: a, b, c\nthe disk is full\n"));
}

TEST_F(VerbsTest, WhatIsForOneJobSaysWhatToDoWithSeveral) {
  const std::string path = Write(Good("a") + "---\n" + Good("b"));
  EXPECT_EQ(Run({"submit", path, "--wait"}), kWrongUse);
  EXPECT_THAT(err_, HasSubstr("--wait: is for one job, and " + path + " has 2: leave it out, and see each with"));
  EXPECT_EQ(Run({"submit", path, "--estimate", "--fleet", "fleet.yaml"}), kWrongUse);
  EXPECT_THAT(err_, HasSubstr("give each a file of its own"));
  EXPECT_EQ(Run({"submit", path, "--set", "steps"}), kWrongUse);
  EXPECT_THAT(err_, HasSubstr("write FIELD=VALUE, as --set training.steps=100"));
  EXPECT_THAT(answers_.submitted, IsEmpty());
}

TEST_F(VerbsTest, FlagsReachEachJobAndTakeNoFile) {
  const std::string path = Write(Good("a") + "---\n" + Good("b"));
  EXPECT_EQ(Run({"validate", "--set", "training.steps=9", path, "--set", "spec.team=t"}), kOk) << err_;
  ASSERT_EQ(answers_.validated.size(), 2u);
  for (const v1::Job& job : answers_.validated) {
    EXPECT_EQ(job.spec().training().steps(), 9);
    EXPECT_EQ(job.spec().team(), "t");
  }
}

TEST_F(VerbsTest, AJobThatCannotBeReadIsSentToNobodyAndItsOtherMistakesAreTold) {
  const std::string path =
      Write("name: a\nspec:\n  seeed: 1\n  priority: 5000\n  workers: {min: 3, max: 2}\n  data: {text: a.txt}\n---\n" +
            Good("b"));
  answers_.refuses_to_validate["b"] = {grpc::StatusCode::INVALID_ARGUMENT, "spec.training.steps: is odd"};
  EXPECT_EQ(Run({"submit", path}), kFailed);
  EXPECT_THAT(err_, HasSubstr("has 3 problems:\n" + path + ":3: `spec.seeed` is not a field; did you mean `seed`?\n" +
                              path + ":4: spec.priority: 5000 is out of range: use -1000 to 1000\n" + path +
                              ":10: spec.training.steps: is odd\n"))
      << "what hangs together may be wrong only for what could not be read";
  ASSERT_EQ(answers_.validated.size(), 1u);
  with_coordinator_ = false;
  EXPECT_EQ(Run({"submit", path}), kFailed) << "what is wrong is wrong without a coordinator";
  EXPECT_THAT(err_, HasSubstr("has 2 problems:\n"));
}

TEST_F(VerbsTest, OfflineFindsWhatNeedsNoCoordinatorAndListsTheRest) {
  with_coordinator_ = false;
  const std::string good = Write(Good("a") + "---\n" + Good("b"), "good.yaml");
  const std::string bad = Write("name: No Name\nspec: {data: {text: /a}, goals: {budget: -1}}\n", "bad.yaml");
  EXPECT_EQ(Run({"validate", "--offline", good}), kOk) << err_;
  EXPECT_THAT(out_, StartsWith(good + ":1: job a: nothing wrong that can be told without a coordinator\n" + good +
                               ":5: job b: nothing wrong"));
  for (const coordinator::JobCheck& check : coordinator::JobChecks()) {
    const std::string listed = std::string(check.name) + " (" + coordinator::Describe(check.needs) + ")";
    EXPECT_EQ(out_.find(listed) != std::string::npos, !IsRunOffline(check)) << check.name;
  }
  EXPECT_EQ(Run({"validate", "--offline", good, bad, folder_ + "/none.yaml"}), kFailed);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("bad.yaml has 3 problems:\n" + bad + ":1: name: 'No Name' must be"));
  EXPECT_THAT(err_, HasSubstr(bad + ":2: spec.training.steps: is missing"));
  EXPECT_THAT(err_, HasSubstr(bad + ":2: spec.goals.budget: -1 is out of range"));
  EXPECT_THAT(err_, HasSubstr("none.yaml"));
  EXPECT_EQ(Run({"validate", good}), kUnreachable) << "without --offline the coordinator is asked";
}

TEST_F(VerbsTest, WeightsAreLookedAtByTheCommandInEitherCase) {
  const std::string path = Write(
      "name: a\nspec:\n  data: {text: /a}\n  training: {steps: 5, clip_norm: -1}\n  model: {weights: weights.bin}\n");
  Write("these are none", "weights.bin");
  answers_.refuses_to_validate["a"] = {grpc::StatusCode::INVALID_ARGUMENT,
                                       "spec.training.clip_norm: -1 is out of range: "
                                       "use 0 to 1e+06"};
  EXPECT_EQ(Run({"validate", path}), kFailed);
  const std::string online = err_;
  EXPECT_THAT(online, HasSubstr(path + ":5: spec.model.weights: "));
  EXPECT_EQ(Run({"submit", path}), kFailed);
  EXPECT_EQ(err_, online);
  ASSERT_FALSE(answers_.validated.empty());
  EXPECT_FALSE(answers_.validated[0].spec().model().weights_digest().empty()) << "that it is missing is no mistake";
  EXPECT_EQ(Run({"validate", "--offline", path}), kFailed);
  EXPECT_THAT(err_, HasSubstr(path + ":5: spec.model.weights: "));
  EXPECT_THAT(err_, HasSubstr(path + ":4: spec.training.clip_norm: -1 is out of range"));
}

// The program that stands for the interpreter writes its arguments and a report, and ends with the code in its name.
// For a script it writes the job that the script would describe.
TEST_F(VerbsTest, TwiceRunsTheCheckOfATaskAndTellsItsOutcome) {
  with_coordinator_ = false;
  const std::string own =
      absl::StrCat("name: a\nspec:\n  seed: 9\n  model: {python: 'train:task', folder: ", folder_,
                   ", interpreter: /none}\n  training: {steps: 5, global_batch: 12, micro_batch: 6, reduce: fp32}\n");
  const std::string job = Write(own, "own.yaml");
  const auto interpreter = [&](int code) {
    const std::string path =
        Write(absl::StrCat("#!/bin/sh\nif [ \"$1\" != -m ]; then cp ", job, " \"$REKINDLE_DESCRIBE\"; exit; fi\n",
                           "echo \"$@\"\necho the report\nexit ", code, "\n"),
              absl::StrCat("py", code));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  };
  EXPECT_EQ(Run({"validate", "--twice", "--python", interpreter(0), job}), kOk) << err_;
  const std::string report = absl::StrCat("-m rekindle.check --micro-batch 6 --seed 9 --precision fp32 --inexact -- ",
                                          folder_, " train:task\nthe report\n");
  EXPECT_EQ(out_, report);
  const std::string script = Write("", "train.py");
  EXPECT_EQ(Run({"validate", "--twice", "--python", interpreter(1), script}), kFailed);
  EXPECT_EQ(out_, report);
  EXPECT_THAT(err_, HasSubstr("the result of train:task depends on more than weights and samples"));
  EXPECT_EQ(Run({"validate", "--twice", "--python", interpreter(2), script}), kFailed);
  EXPECT_THAT(err_, HasSubstr("train:task cannot be trained"));
  EXPECT_EQ(Run({"validate", "--twice", "--python", interpreter(9), script}), kFailed);
  EXPECT_THAT(err_, HasSubstr("ended with exit code 9"));
  EXPECT_EQ(Run({"validate", "--twice", job}), kFailed);
  EXPECT_THAT(err_, HasSubstr("/none")) << "the job names its interpreter";
  EXPECT_EQ(Run({"validate", "--twice", Write(Good("b"))}), kFailed);
  EXPECT_THAT(err_, HasSubstr("has no model of its own (spec.model.python)"));
  EXPECT_EQ(Run({"validate", "--python", interpreter(0), job}), kWrongUse);
}

}  // namespace
}  // namespace rekindle::cli
