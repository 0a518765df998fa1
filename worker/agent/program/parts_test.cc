// Tests the agent's smaller parts: trainers' records, the node's folder, and a trainer's environment.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"
#include "worker/agent/folder/exits.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/init/init.h"
#include "worker/agent/program/interpreter.h"
#include "worker/agent/program/node_facts.h"
#include "worker/agent/program/options.h"
#include "worker/agent/trainers/trainer_launch.h"

namespace rekindle::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PartsTest : public ::testing::Test {
 protected:
  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
};

TEST_F(PartsTest, ACopyOfAFolderHasItsIncarnationAndAnotherHome) {
  std::string incarnation, home;
  {
    const auto first = NodeFolder::Open(dir_ + "/node", 0);
    ASSERT_TRUE(first.ok()) << first.status();
    incarnation = first->incarnation();
    home = first->home();
    EXPECT_NE(home, "");
    std::filesystem::copy(dir_ + "/node", dir_ + "/copy", std::filesystem::copy_options::recursive);
    const auto copy = NodeFolder::Open(dir_ + "/copy", 0);
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(copy->incarnation(), incarnation);
    EXPECT_NE(copy->home(), home);
  }
  const auto again = NodeFolder::Open(dir_ + "/node", 0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->incarnation(), incarnation);
  EXPECT_EQ(again->home(), home);
}

TEST(Record, RoundTripAndDamage) {
  const TrainerRecord record = {.trainer = "n/1/abcd0123",
                                .slot = 1,
                                .job_uid = "uid",
                                .job_name = "job",
                                .process = {.pid = 42, .start_time_ticks = 1ull << 60},
                                .boot_id = "boot",
                                .started_at = 12.5,
                                .log = "/x/y.log",
                                .exit_code = -9,
                                .exit_reason = "killed"};
  const std::string text = ToJson(record);
  EXPECT_EQ(*FromJson(text), record);
  EXPECT_FALSE(FromJson("").ok());
  EXPECT_FALSE(FromJson("[]").ok());
  EXPECT_FALSE(FromJson("{\"trainer\": 3}").ok());
  EXPECT_FALSE(FromJson(text.substr(0, text.size() / 2)).ok());
  TrainerRecord evil = record;
  evil.job_uid = "../..";
  EXPECT_FALSE(FromJson(ToJson(evil)).ok());
}

TEST_F(PartsTest, FolderKeepsItsIncarnation) {
  std::string incarnation;
  {
    const auto folder = NodeFolder::Open(dir_ + "/node", 0);
    ASSERT_TRUE(folder.ok()) << folder.status();
    incarnation = folder->incarnation();
    EXPECT_EQ(incarnation.size(), 32u);
    EXPECT_TRUE(absl::IsAlreadyExists(NodeFolder::Open(dir_ + "/node", 0).status()));
  }
  EXPECT_EQ(NodeFolder::Open(dir_ + "/node", 0)->incarnation(), incarnation);
  // A power cut may leave an empty node.json.
  std::ofstream(dir_ + "/node/node.json") << "";
  EXPECT_NE(NodeFolder::Open(dir_ + "/node", 0)->incarnation(), incarnation);
  std::filesystem::remove_all(dir_ + "/node");
  EXPECT_NE(NodeFolder::Open(dir_ + "/node", 0)->incarnation(), incarnation);
  EXPECT_TRUE(absl::IsInvalidArgument(NodeFolder::Open(dir_ + "/" + std::string(90, 'x'), 0).status()));
}

TEST_F(PartsTest, ExitsAreTakenOnceAndClearedButForWatched) {
  const common::ProcessIdentity a = {.pid = 1, .start_time_ticks = 2};
  const common::ProcessIdentity b = {.pid = 1, .start_time_ticks = 3};
  ASSERT_TRUE(RecordExit(dir_, a, {.code = -9}).ok());
  ASSERT_TRUE(RecordExit(dir_, b, {.code = 7}).ok());
  ClearExits(dir_, {a});
  EXPECT_FALSE(TakeExit(dir_, b).has_value());
  EXPECT_EQ(TakeExit(dir_, a)->code, -9);
  EXPECT_FALSE(TakeExit(dir_, a).has_value());
}

TEST(SafeName, RefusesPaths) {
  EXPECT_TRUE(IsSafeName("a-B_3.x", 16));
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "a\nb"}) EXPECT_FALSE(IsSafeName(name, 16)) << name;
  EXPECT_FALSE(IsSafeName(std::string(17, 'a'), 16));
}

TEST(Options, WhatJobsReadWhereNothingIsSaid) {
  const auto roots = [](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"--dir", "/d", "--trainer-binary", "/bin/true", "--device", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    int exit_code = 0;
    const auto options = ParseOptions(arguments, "rekindle-worker", &exit_code);
    return options ? options->data_roots : std::vector<std::string>{std::to_string(exit_code)};
  };
  EXPECT_THAT(roots({"--coordinator", "127.0.0.1:7070"}), ElementsAre("/"));
  EXPECT_THAT(roots({"--coordinator", "coordinator.example:7070"}), ElementsAre("/var/lib/rekindle/data"));
  EXPECT_THAT(roots({"--coordinator", "localhost:7070", "--data-root", "/a", "--data-root", "/b"}),
              ElementsAre("/a", "/b"));
  EXPECT_THAT(roots({"--coordinator", "localhost:7070", "--data-root", "a"}), ElementsAre("2"));
}

TEST(Options, CodeOfUsersRunsWithoutAWordOnlyForACoordinatorOnLoopback) {
  const auto allows = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--dir", "/d", "--trainer-binary", "/bin/true"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    int exit_code = -1;
    const auto options = ParseOptions(arguments, "rekindle-worker", &exit_code);
    return options ? options->allow_code : std::to_string(exit_code);
  };
  EXPECT_EQ(allows({"--coordinator", "127.0.0.1:7070"}), "on");
  EXPECT_EQ(allows({"--coordinator", "coordinator.example:7070"}), "off");
  EXPECT_EQ(allows({"--coordinator", "coordinator.example:7070", "--allow-code", "unisolated"}), "unisolated");
  EXPECT_EQ(allows({"--coordinator", "127.0.0.1:7070", "--allow-code", "off"}), "off");
  EXPECT_EQ(allows({"--coordinator", "127.0.0.1:7070", "--allow-code", "maybe"}), "2");
  EXPECT_EQ(allows({"--coordinator", "127.0.0.1:7070", "--python", "/none"}), "2");
}

TEST(NodeFacts, ANodeThatCannotIsolateCodeSaysSo) {
  AgentOptions options;
  options.allow_code = "on";
  options.coordinator = "127.0.0.1:7070";
  EXPECT_EQ(AllowedCode(options), "on");
  options.coordinator = "coordinator.example:7070";
  EXPECT_EQ(AllowedCode(options), "needs-isolation");
  options.isolation = user_code::Isolation::kUid;
  EXPECT_EQ(AllowedCode(options), "on");
  options.isolation = user_code::Isolation::kNone;
  options.allow_code = "unisolated";
  EXPECT_EQ(AllowedCode(options), "unisolated");
  options.allow_code = "off";
  EXPECT_EQ(AllowedCode(options), "off");
}

TEST(CheckDesired, CodeOfUsersIsRefusedUnlessItIsAllowed) {
  v1::DesiredTrainer desired;
  desired.set_job_uid("uid");
  desired.set_job_name("job");
  EXPECT_TRUE(CheckDesired(desired, 1, "off").ok());
  desired.mutable_spec()->mutable_model()->set_python("train:task");
  for (const char* allow_code : {"", "off"}) {
    EXPECT_THAT(std::string(CheckDesired(desired, 1, allow_code).message()),
                HasSubstr("job job brings code of its own, and this node runs none"));
  }
  EXPECT_TRUE(CheckDesired(desired, 1, "on").ok());
  EXPECT_TRUE(CheckDesired(desired, 1, "unisolated").ok());
}

TEST(Interpreter, ItsVersionsDecideWhetherItRunsOwnModels) {
  const auto problem = [](const std::string& answer) { return ReadInterpreter("/p", answer).problem(); };
  const v1::Interpreter found = ReadInterpreter("/p", "noise\nrekindle-interpreter\t3.11.2\t2.11.0+cpu\tyes\n");
  EXPECT_EQ(found.version(), "3.11.2");
  EXPECT_EQ(found.torch(), "2.11.0+cpu");
  EXPECT_EQ(found.problem(), "");
  EXPECT_EQ(problem("rekindle-interpreter\t3.10.0\t2.4.0\tyes\n"), "");
  EXPECT_THAT(problem("rekindle-interpreter\t3.11.2\t2.3.1\tyes\n"),
              HasSubstr("has torch 2.3.1, and own models need torch 2.4 or newer"));
  EXPECT_THAT(problem("rekindle-interpreter\t3.11.2\t\tyes\n"), HasSubstr("has no PyTorch"));
  EXPECT_THAT(problem("rekindle-interpreter\t3.9.1\t2.4.0\tyes\n"), HasSubstr("is Python 3.9.1"));
  EXPECT_THAT(problem("rekindle-interpreter\t3.11.2\t2.4.0\tno\n"), HasSubstr("has no package rekindle"));
  EXPECT_THAT(problem("Usage: sh\n"), HasSubstr("does not say its version"));
}

TEST(Interpreter, AProgramThatIsNoneIsNamed) {
  EXPECT_THAT(AskInterpreter("/bin/false").problem(), HasSubstr("does not work"));
  EXPECT_THAT(AskInterpreter("/bin/echo").problem(), HasSubstr("does not say its version"));
}

TEST(Options, TheDeviceForTestsIsToldToNobody) {
  int exit_code = -1;
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(ParseOptions({"--help"}, "rekindle-worker", &exit_code).has_value());
  const std::string help = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, kExitOk);
  EXPECT_THAT(help, HasSubstr("--device"));
  EXPECT_THAT(help, Not(HasSubstr("fake")));

  std::vector<std::string> arguments = {
      "--dir", "/d", "--coordinator", "127.0.0.1:7070", "--trainer-binary", "/bin/true", "--device", "tpu"};
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(ParseOptions(arguments, "rekindle-worker", &exit_code).has_value());
  const std::string refusal = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(exit_code, kExitWrongUse);
  EXPECT_THAT(refusal, HasSubstr("tpu is not auto or cpu"));
  EXPECT_THAT(refusal, Not(HasSubstr("fake")));
  arguments.back() = kFakeDevices;
  EXPECT_TRUE(ParseOptions(arguments, "rekindle-worker", &exit_code).has_value());
}

TEST(TrainerEnvironment, PinsAndFilters) {
  v1::JobSpec spec;
  spec.mutable_workers()->set_threads_per_rank(2);
  const std::vector<std::string> environment = TrainerEnvironment(
      spec, {"PATH=/bin", "REKINDLE_X=1", "OMP_NUM_THREADS=64", "MKL_NUM_THREADS=64", "SHELL_SECRET=s", "LD_PRELOAD=x"},
      "GPU-3f");
  EXPECT_THAT(environment, Contains("CUDA_VISIBLE_DEVICES=GPU-3f"));
  EXPECT_THAT(TrainerEnvironment(spec, {"CUDA_VISIBLE_DEVICES=0"}, ""), Contains("CUDA_VISIBLE_DEVICES="));
  EXPECT_THAT(environment, Contains("PATH=/bin"));
  EXPECT_THAT(environment, Contains("REKINDLE_X=1"));
  EXPECT_THAT(environment, Contains("OMP_NUM_THREADS=2"));
  EXPECT_THAT(environment, Contains(StartsWith("ATEN_CPU_CAPABILITY=")));
  EXPECT_THAT(environment, Not(Contains(HasSubstr("AMX"))));
  EXPECT_THAT(environment, Not(Contains(HasSubstr("64"))));
  EXPECT_THAT(environment, Not(Contains(StartsWith("SHELL_SECRET"))));
  EXPECT_THAT(environment, Not(Contains(StartsWith("LD_PRELOAD"))));
}

TEST(InitDelay, FirstAtOnceThenBounded) {
  EXPECT_EQ(AgentRestartDelay(0), 0);
  EXPECT_EQ(AgentRestartDelay(1), 0.1);
  EXPECT_EQ(AgentRestartDelay(100), 5);
}

}  // namespace
}  // namespace rekindle::agent
