#include "common/bundle/ignore_rules.h"

#include <gtest/gtest.h>

#include "common/bundle/never_sent.h"

namespace rekindle::common {
namespace {

TEST(IgnoreRulesTest, GlobsAreThoseOfGit) {
  for (const auto& [pattern, name] : {std::pair{"*.py", "a.py"},
                                      {"a?c", "abc"},
                                      {"[a-c]x", "bx"},
                                      {"[!a]x", "bx"},
                                      {"a*b*c", "axxbyybzc"},
                                      {"\\*", "*"},
                                      {"[]]", "]"},
                                      {"*", ""},
                                      {"[a", "[a"}}) {
    EXPECT_TRUE(MatchesGlob(pattern, name)) << pattern;
  }
  for (const auto& [pattern, name] : {std::pair{"*.py", "a.pyc"},
                                      {"a?c", "ac"},
                                      {"[a-c]x", "dx"},
                                      {"[!a]x", "ax"},
                                      {"a*b*c", "axxc"},
                                      {"\\*", "x"},
                                      {"", "a"}}) {
    EXPECT_FALSE(MatchesGlob(pattern, name)) << pattern;
  }
}

TEST(IgnoreRulesTest, ManyStarsDoNotTakeForEver) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesGlob(pattern + "b", std::string(5000, 'a')));
}

TEST(IgnoreRulesTest, PathsAreThoseOfGit) {
  const IgnoreRules rules(
      "# a comment\n\n*.log\n/only_here\nbuild/\ndocs/**/draft\nout/**\n**/deep/x\n!keep.log\n\\#odd\nend \r\n");
  const auto ignores = [&](const char* path, bool is_folder = false) { return rules.Ignores(path, is_folder); };
  EXPECT_EQ(ignores("a/b.log"), true);
  EXPECT_EQ(ignores("a/keep.log"), false) << "the last rule counts";
  EXPECT_EQ(ignores("only_here"), true);
  EXPECT_EQ(ignores("a/only_here"), std::nullopt);
  EXPECT_EQ(ignores("a/build", true), true);
  EXPECT_EQ(ignores("a/build", false), std::nullopt) << "a file of that name is no folder";
  EXPECT_EQ(ignores("docs/draft"), true);
  EXPECT_EQ(ignores("docs/a/b/draft"), true);
  EXPECT_EQ(ignores("out", true), std::nullopt);
  EXPECT_EQ(ignores("out/a/b"), true);
  EXPECT_EQ(ignores("deep/x"), true);
  EXPECT_EQ(ignores("a/deep/x"), true);
  EXPECT_EQ(ignores("#odd"), true);
  EXPECT_EQ(ignores("end"), true);
  EXPECT_EQ(ignores("a comment"), std::nullopt);
}

TEST(IgnoreRulesTest, KeysAreNeverSent) {
  for (const char* name : {".git", ".env", ".env.local", "prod.env", "id_rsa", "ID_RSA", "id_ed25519.pub", "a.pem",
                           "server.KEY", ".netrc", ".aws", ".ssh", ".kube", "credentials.json"}) {
    EXPECT_TRUE(IsNeverSent(name)) << name;
  }
  for (const char* name : {"train.py", "environment.yml", "keys.py", ".gitignore", "git", "model.bin", "env"}) {
    EXPECT_FALSE(IsNeverSent(name)) << name;
  }
}

}  // namespace
}  // namespace rekindle::common
