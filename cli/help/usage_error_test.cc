#include "cli/help/usage_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/testing/testing_command.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Said {
  std::string message;
  std::string verb;
};

Said WrongUse(std::vector<std::string> words) {
  Command command;
  // CLI11 takes the words of a command line from the end of the vector, so the test reverses their order.
  std::reverse(words.begin(), words.end());
  try {
    command.app.parse(words);
  } catch (const CLI::ParseError& error) {
    const UsageError wrong = DescribeUsageError(command.app, error);
    return {wrong.message, PathOf(*wrong.verb)};
  }
  return {"nothing", ""};
}

TEST(UsageErrorTest, AVerbThatNobodyKnows) {
  EXPECT_EQ(WrongUse({"sumbit", "x.yaml", "--wait"}).message,
            "`rekindle` has no verb 'sumbit'; did you mean `submit`?");
  EXPECT_EQ(WrongUse({"frobnicate"}).message, "`rekindle` has no verb 'frobnicate'");
  const Said said = WrongUse({"checkpoint", "lss", "job"});
  EXPECT_EQ(said.message, "`rekindle checkpoint` has no verb 'lss'; did you mean `ls`?");
  EXPECT_EQ(said.verb, "rekindle checkpoint");
  EXPECT_EQ(WrongUse({"nodes", "gnoe"}).message, "`rekindle nodes` has no verb 'gnoe'; did you mean `gone`?");
  EXPECT_EQ(WrongUse({"help", "sumbit"}).message, "`rekindle` has no verb 'sumbit'; did you mean `submit`?");
  EXPECT_EQ(WrongUse({"help", "checkpoint", "exprot"}).message,
            "`rekindle checkpoint` has no verb 'exprot'; did you mean `export`?");
  EXPECT_EQ(WrongUse({"a\033[2Jb"}).message, "`rekindle` has no verb 'a?[2Jb'");
}

TEST(UsageErrorTest, AFlagThatNobodyKnows) {
  const Said said = WrongUse({"submit", "x.yaml", "--wiat"});
  EXPECT_EQ(said.message, "`rekindle submit` has no flag --wiat; did you mean `--wait`?");
  EXPECT_EQ(said.verb, "rekindle submit");
  EXPECT_EQ(WrongUse({"drain", "--wihtin=5s"}).message,
            "`rekindle drain` has no flag --wihtin; did you mean `--within`?");
  EXPECT_EQ(WrongUse({"jobs", "--endpiont", "x:1"}).message,
            "`rekindle jobs` has no flag --endpiont; did you mean `--endpoint`?");
}

TEST(UsageErrorTest, WhatIsMissingOrTooMuch) {
  EXPECT_EQ(WrongUse({}).message, "");
  EXPECT_EQ(WrongUse({"checkpoint"}).message, "");
  EXPECT_EQ(WrongUse({"checkpoint"}).verb, "rekindle checkpoint");
  EXPECT_THAT(WrongUse({"submit"}).message, HasSubstr("JOB.yaml is required"));
  EXPECT_EQ(WrongUse({"get", "a", "b"}).message, "`rekindle get` takes no further argument: 'b'");
  EXPECT_EQ(WrongUse({"jobs", "a"}).message, "`rekindle jobs` takes no argument: 'a'");
  EXPECT_THAT(WrongUse({"jobs", "--context", "a", "--endpoint", "b:1"}).message, HasSubstr("excludes"));
}

TEST(UsageErrorTest, ValuesThatCannotBe) {
  EXPECT_EQ(WrongUse({"resume", "a", "--budget", "-5"}).message, "--budget: must be a number above 0, not '-5'");
  EXPECT_EQ(WrongUse({"up", "--workers", "65"}).message, "--workers: must be a whole number, from 0 to 64, not '65'");
  EXPECT_EQ(WrongUse({"drain", "n1", "--within", "soon"}).message,
            "--within: must be a time, as 90s, 5m, 1.5h or 2d, not 'soon'");
  EXPECT_EQ(WrongUse({"jobs", "--state", "runing"}).message.substr(0, 39), "--state: must be active or over or pend");
  EXPECT_THAT(WrongUse({"jobs", "--state", "runing"}).message, HasSubstr("did you mean running?"));
  EXPECT_THAT(WrongUse({"checkpoint", "export", "a", "b", "--dtype", "f8"}).message,
              HasSubstr("--dtype: must be f32 or f16 or bf16, not 'f8'"));
  EXPECT_THAT(WrongUse({"simulate", "--job", "j", "--fleet", "f", "--step", "0"}).message, Not(HasSubstr("FLOAT")));
}

}  // namespace
}  // namespace rekindle::cli
