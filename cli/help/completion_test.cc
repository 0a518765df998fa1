#include "cli/help/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/testing/testing_command.h"

namespace rekindle::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CompletionTest : public testing::Test {
 protected:
  Completion At(const std::vector<std::string>& words) {
    return Complete(root_, words, [this](Names names, const GivenFlags& given) {
      asked_.push_back(names);
      given_ = given;
      switch (names) {
        case Names::kJobs:
          return std::vector<std::string>{"night-run", "noon", "$(reboot)", "a b", "-rf"};
        case Names::kNodes:
          return std::vector<std::string>{"n1", "n2"};
        case Names::kPools:
          return std::vector<std::string>{"zone/t/spot"};
        case Names::kContexts:
          return std::vector<std::string>{"prod"};
      }
      return std::vector<std::string>();
    });
  }
  std::vector<std::string> Words(const std::vector<std::string>& words) {
    std::vector<std::string> out;
    for (const Candidate& candidate : At(words).candidates) out.push_back(candidate.word);
    return out;
  }

  Command command_;
  const VerbText root_ = Describe(command_.app);
  std::vector<Names> asked_;
  GivenFlags given_;
};

TEST_F(CompletionTest, Verbs) {
  EXPECT_THAT(Words({"sub"}), ElementsAre("submit"));
  EXPECT_THAT(Words({""}), AllOf(Contains("jobs"), Contains("checkpoint"), Not(Contains("__complete"))));
  EXPECT_THAT(Words({"checkpoint", "e"}), ElementsAre("export"));
  EXPECT_THAT(Words({"-o", "json", "checkpoint", "exp"}), ElementsAre("export"));
  EXPECT_THAT(Words({"help", "checkpoint", "exp"}), ElementsAre("export"));
  EXPECT_THAT(Words({"help", "va"}), ElementsAre("validate"));
  EXPECT_THAT(Words({"help", "nosuch", ""}), IsEmpty());
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(CompletionTest, Flags) {
  EXPECT_THAT(Words({"submit", "--wa"}), ElementsAre("--wait"));
  EXPECT_THAT(Words({"submit", "--end"}), ElementsAre("--endpoint"));
  EXPECT_THAT(Words({"nosuch", "--end"}), ElementsAre("--endpoint"));
  // A verb's own flag is offered once, even if the command has a flag of the same name.
  EXPECT_THAT(Words({"context", "set", "a", "--endp"}), ElementsAre("--endpoint"));
  EXPECT_THAT(Words({"submit", "--", "--wa"}), IsEmpty());
}

TEST_F(CompletionTest, Values) {
  EXPECT_THAT(Words({"jobs", "-o", ""}), ElementsAre("text", "wide", "json"));
  EXPECT_THAT(Words({"jobs", "--output=j"}), ElementsAre("--output=json"));
  EXPECT_THAT(Words({"checkpoint", "export", "--dtype", "f"}), ElementsAre("f32", "f16"));
  EXPECT_THAT(Words({"jobs", "--state", "pau"}), ElementsAre("paused"));
  EXPECT_THAT(Words({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_TRUE(At({"submit", ""}).files);
  EXPECT_TRUE(At({"--tls-ca", ""}).files);
  EXPECT_TRUE(At({"up", "--dir", ""}).folders);
  EXPECT_TRUE(At({"up", "--dir="}).folders);
  EXPECT_TRUE(At({"checkpoint", "export", "job", "checkpoint", ""}).folders);
  EXPECT_THAT(Words({"--context", "p"}), ElementsAre("prod"));
  EXPECT_THAT(Words({"context", "use", ""}), ElementsAre("prod"));
}

TEST_F(CompletionTest, NamesOfJobsAndNodes) {
  EXPECT_THAT(Words({"get", "ni"}), ElementsAre("night-run"));
  EXPECT_THAT(Words({"drain", ""}), ElementsAre("n1", "n2"));
  EXPECT_THAT(Words({"market", "z"}), ElementsAre("zone/t/spot"));
  EXPECT_THAT(Words({"checkpoint", "ls", "--store", "uri", "no"}), ElementsAre("noon"));
  EXPECT_THAT(Words({"get", "night-run", ""}), IsEmpty());
}

TEST_F(CompletionTest, WhatAShellWouldRunIsNotOffered) {
  EXPECT_THAT(Words({"get", ""}), ElementsAre("night-run", "noon"));
}

TEST_F(CompletionTest, TheCoordinatorThatIsNamedIsAsked) {
  Words({"--endpoint", "host:1", "--token-file=/t", "get", ""});
  EXPECT_EQ(given_["--endpoint"], "host:1");
  EXPECT_EQ(given_["--token-file"], "/t");
  Words({"get", "--context", "prod", ""});
  EXPECT_EQ(given_["--context"], "prod");
}

TEST_F(CompletionTest, LinesForTheShells) {
  Completion completion{.candidates = {{"a", "what\tit does\nand more"}, {"b", ""}}, .files = true};
  EXPECT_EQ(ToLines(completion), "a\twhat it does\nb\n:files\n");
  completion = {.candidates = {{"a", "a description that is so long that no shell would show it in its list"}}};
  EXPECT_EQ(ToLines(completion), "a\ta description that is so long that no shell would show it in ...\n");
}

TEST_F(CompletionTest, EachShellHasAScript) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(CompletionScript(shell), HasSubstr("__complete"));
    EXPECT_THAT(CompletionScript(shell), HasSubstr(std::string("rekindle completion ") + shell));
  }
}

}  // namespace
}  // namespace rekindle::cli
