// Checks help and manual pages of every verb.
#include "cli/help/help_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "cli/help/man_page.h"
#include "cli/testing/testing_command.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

void ForEachVerb(const VerbText& verb, const std::function<void(const VerbText&)>& look) {
  look(verb);
  for (const VerbText& child : verb.verbs) ForEachVerb(child, look);
}

TEST(HelpTextTest, FitsATerminal) {
  const Command command;
  ForEachVerb(Describe(command.app), [](const VerbText& verb) {
    for (const auto line : absl::StrSplit(HelpText(verb), '\n'))
      EXPECT_LE(line.size(), 80u) << verb.path << ": " << line;
  });
}

TEST(HelpTextTest, EverythingIsDescribedInWordsForPeople) {
  const Command command;
  ForEachVerb(Describe(command.app), [](const VerbText& verb) {
    EXPECT_FALSE(verb.description.empty()) << verb.path;
    for (const FlagText& flag : verb.flags) EXPECT_FALSE(flag.description.empty()) << verb.path << " " << HeadOf(flag);
    for (const ArgumentText& argument : verb.arguments) EXPECT_FALSE(argument.description.empty()) << verb.path;
    for (const char* odd : {"ENUM", "UINT", " INT", "FLOAT", ":{", "->", "[0 -", "ARGUMENTS", "e+", "Subcommand"}) {
      EXPECT_THAT(HelpText(verb), Not(HasSubstr(odd))) << verb.path;
    }
  });
}

TEST(HelpTextTest, EveryVerbHasItsPlace) {
  const Command command;
  for (const VerbText& verb : Describe(command.app).verbs) EXPECT_NE(verb.group, "Subcommands") << verb.name;
}

TEST(HelpTextTest, AVerb) {
  const Command command;
  const VerbText root = Describe(command.app);
  const std::string help = HelpText(*FindVerb(root, {"checkpoint", "export"}));
  EXPECT_THAT(help, HasSubstr("Usage: rekindle checkpoint export [FLAGS] JOB [CHECKPOINT] DIR\n"));
  EXPECT_THAT(help, HasSubstr("--dtype f32|f16|bf16"));
  EXPECT_THAT(help, HasSubstr("(default: f32)"));
  EXPECT_THAT(help, HasSubstr("--max-file-bytes SIZE"));
  EXPECT_THAT(HelpText(*FindVerb(root, {"pause"})), HasSubstr("(with --wait; default: 10m)"));
  EXPECT_EQ(FindVerb(root, {"checkpoint", "exprot"}), nullptr);
}

TEST(HelpTextTest, TheCommand) {
  const Command command;
  const std::string help = HelpText(Describe(command.app));
  for (const char* words : {"Usage: rekindle [FLAGS] VERB ...", "Jobs:\n", "Exit codes: 0 ok", "--token-file FILE",
                            "text|wide|json", "REKINDLE_ENDPOINT"}) {
    EXPECT_THAT(help, HasSubstr(words));
  }
  EXPECT_THAT(help, Not(HasSubstr("__complete")));
}

TEST(HelpTextTest, Wrapping) {
  EXPECT_EQ(Wrapped("one two three", 80, 0), "one two three");
  EXPECT_EQ(Wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(Wrapped("one\ntwo", 80, 2), "one\n  two");
  EXPECT_EQ(Wrapped("averylongword x", 5, 0), "averylongword\nx");
}

TEST(ManPageTest, EveryVerbHasAPage) {
  const Command command;
  const VerbText root = Describe(command.app);
  const std::string page = ManPage(root, root, {"0.1.0", "2026-01-31"});
  EXPECT_THAT(page, HasSubstr(".TH \"REKINDLE\" 1 \"2026-01-31\" \"Rekindle 0.1.0\"\n"));
  EXPECT_THAT(page, HasSubstr("rekindle \\- Trains models on machines that may vanish.\n"));
  for (const VerbText& verb : root.verbs) {
    EXPECT_THAT(page, HasSubstr("rekindle\\-" + absl::StrReplaceAll(verb.name, {{"-", "\\-"}}) + " (1)"));
    const std::string own = ManPage(root, verb, {"0.1.0", "2026-01-31"});
    for (const char* section : {".SH \"NAME\"", ".SH \"SYNOPSIS\"", ".SH \"DESCRIPTION\"", ".SH \"FLAGS\""}) {
      EXPECT_THAT(own, HasSubstr(section)) << verb.path;
    }
    for (const VerbText& child : verb.verbs) EXPECT_THAT(own, HasSubstr(".SS \"" + child.path)) << child.path;
  }
}

TEST(ManPageTest, NoTextIsTakenForARequest) {
  const Command command;
  const VerbText root = Describe(command.app);
  ForEachVerb(root, [&](const VerbText& verb) {
    for (const auto line : absl::StrSplit(ManPage(root, verb, {"0.1.0", "2026-01-31"}), '\n')) {
      if (line.empty() || (line[0] != '.' && line[0] != '\'')) continue;
      EXPECT_THAT(std::string(line), MatchesRegex("\\.(TH|SH|SS|TP|B|BR|PP|br)( .*)?")) << verb.path;
    }
  });
  VerbText odd{.path = "x", .name = "x", .description = ".so /etc/passwd\n'ig\nback\\slash"};
  const std::string page = ManPage(odd, odd, {"1", "2026-01-31"});
  EXPECT_THAT(page, HasSubstr("\n\\&.so /etc/passwd\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&'ig\n"));
  EXPECT_THAT(page, HasSubstr("back\\eslash"));
}

}  // namespace
}  // namespace rekindle::cli
