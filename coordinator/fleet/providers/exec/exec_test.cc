// These tests check how the provider runs an operator's hook, with scripts that behave well and others that do not.
#include "coordinator/fleet/providers/exec/exec.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::fleet {
namespace {

using testing::HasSubstr;
using testing::Not;

class ExecTest : public testing::Test {
 protected:
  // Returns a provider whose hook is the shell script `script`.
  std::unique_ptr<Provider> Hook(const std::string& script) {
    const std::string path = dir_ + "/hook";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    chmod(path.c_str(), 0700);
    return NewExecProvider({path, "--site", "a b"});
  }
  std::string Read(const std::string& file) {
    std::stringstream text;
    text << std::ifstream(dir_ + "/" + file).rdbuf();
    return text.str();
  }
  absl::StatusOr<Listing> Lists(const std::string& output) { return Hook("echo '" + output + "'")->List("p", 20); }

  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
};

TEST_F(ExecTest, ArgumentsArePassedWithoutAShell) {
  const auto hook = Hook("printf '%s|' \"$@\" > " + dir_ + "/args");
  EXPECT_TRUE(hook->SetDesired("zone-a/t; rm -rf *", 3, {"n 1", "$HOME"}, 20).ok());
  EXPECT_EQ(Read("args"), "--site|a b|desired|zone-a/t; rm -rf *|3|n 1|$HOME|");
}

TEST_F(ExecTest, WhatRunsIsRead) {
  const auto listing = Lists(
      R"({"machines": [{"id": "a", "node": "n1", "since": 1795341600.5}, {"id": "b", "state": "starting"},
                       {"id": "c", "state": "ending"}],
          "desired": 2, "comment": "others may be there"})");
  ASSERT_TRUE(listing.ok()) << listing.status();
  ASSERT_EQ(listing->machines.size(), 3u);
  EXPECT_EQ(listing->machines[0].node, "n1");
  EXPECT_EQ(listing->machines[0].since, 1795341600.5);
  EXPECT_EQ(listing->machines[1].since, 0);
  EXPECT_EQ(listing->machines[1].state, MachineState::kStarting);
  EXPECT_EQ(listing->machines[2].state, MachineState::kEnding);
  EXPECT_EQ(listing->desired, 2);
}

TEST_F(ExecTest, MachinesThatHaveEndedAreNamed) {
  const auto listing =
      Lists(R"({"machines": [{"id": "a", "node": "n1", "state": "ended"}, {"id": "b", "node": "n2"}]})");
  ASSERT_TRUE(listing.ok()) << listing.status();
  ASSERT_EQ(listing->machines.size(), 1u);
  EXPECT_EQ(listing->machines[0].node, "n2");
  EXPECT_EQ(listing->ended, std::vector<std::string>{"n1"});
}

TEST_F(ExecTest, WhatCannotBeIsRefusedWithTheReason) {
  for (const auto& [output, why] :
       {std::pair{"", "bad JSON"},
        {"[]", "'machines' is missing"},
        {R"({"machines": [{"node": "x"}]})", "'id' is missing"},
        {R"({"machines": [{"id": "x", "state": "dead"}]})", "use starting, running, ending or ended"},
        {R"({"machines": [{"id": "x", "since": "noon"}]})", "'since' is no Unix time"},
        {R"({"machines": [], "desired": -1})", "'desired' is no number"}}) {
    const auto listing = Lists(output);
    EXPECT_EQ(listing.status().code(), absl::StatusCode::kInternal) << output;
    EXPECT_THAT(std::string(listing.status().message()), HasSubstr(why));
  }
}

TEST_F(ExecTest, RefusalsHaveCodes) {
  const auto refused = [this](const std::string& said) {
    return Hook("echo '" + said + "'; exit 1")->SetDesired("p", 2, {}, 20);
  };
  EXPECT_TRUE(absl::IsResourceExhausted(refused(R"({"error": "sold out", "code": "no_capacity"})")));
  EXPECT_TRUE(absl::IsPermissionDenied(refused(R"({"error": "who are you", "code": "denied"})")));
  EXPECT_EQ(RetryAfter(refused(R"({"error": "later", "code": "throttled", "retry_after": 60})")), 60);
  const absl::Status silent = refused("");
  EXPECT_TRUE(absl::IsUnavailable(silent));
  EXPECT_FALSE(RetryAfter(silent));
  EXPECT_THAT(std::string(silent.message()), HasSubstr("exit code 1"));
  EXPECT_THAT(std::string(refused(R"({"error": "sold out"})").message()), HasSubstr("sold out"));
}

TEST_F(ExecTest, OneThatHangsIsKilledWithItsChildren) {
  const double begun = common::SteadySeconds();
  EXPECT_TRUE(absl::IsDeadlineExceeded(Hook("sleep 1000 & sleep 1000")->List("p", 0.3).status()));
  EXPECT_LT(common::SteadySeconds() - begun, 20);
}

TEST_F(ExecTest, AnEndlessOutputIsCutOff) { EXPECT_FALSE(Hook("yes")->List("p", 20).ok()); }

TEST_F(ExecTest, OurSecretsAreNotPassedOn) {
  setenv("REKINDLE_TOKEN_FILE", "/secret/token", 1);
  setenv("SOME_CLOUD_PROFILE", "kept", 1);
  EXPECT_TRUE(Hook("env > " + dir_ + "/env")->SetDesired("p", 0, {}, 20).ok());
  EXPECT_THAT(Read("env"), Not(HasSubstr("/secret/token")));
  EXPECT_THAT(Read("env"), HasSubstr("SOME_CLOUD_PROFILE=kept"));
  unsetenv("REKINDLE_TOKEN_FILE");
}

TEST_F(ExecTest, OneThatIsNotThere) {
  const absl::Status status = NewExecProvider({"/nowhere/hook"})->SetDesired("p", 1, {}, 20);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/hook desired ended with exit code 127"));
}

}  // namespace
}  // namespace rekindle::fleet
