#include "cli/connection/context_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;

class ContextFileTest : public testing::Test {
 protected:
  std::string path() const { return folder_ + "/rekindle/contexts.yaml"; }
  std::string ErrorOf(const std::string& text) {
    std::filesystem::create_directories(folder_ + "/rekindle");
    std::ofstream(path()) << text;
    return std::string(ReadContexts(path()).status().message());
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(ContextFileTest, WhatIsWrittenIsReadAgainByItsOwnerAlone) {
  Contexts contexts{.current = "prod"};
  contexts.contexts["prod"] = {
      .endpoint = "coordinator.example:7070",
      .security = {
          .tls_cert = "/a b/cert.pem", .tls_key = "/k\"ey: #.pem", .tls_ca = "/ca.pem", .token_file = "/token"}};
  contexts.contexts["local"] = {.endpoint = "127.0.0.1:7070"};
  ASSERT_TRUE(WriteContexts(path(), contexts).ok());
  struct stat info = {};
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((folder_ + "/rekindle").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);

  const auto read = ReadContexts(path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->current, "prod");
  ASSERT_EQ(read->contexts.size(), 2u);
  const NamedCoordinator& prod = read->contexts.at("prod");
  EXPECT_EQ(prod.endpoint, "coordinator.example:7070");
  EXPECT_EQ(prod.security.tls_cert, "/a b/cert.pem");
  EXPECT_EQ(prod.security.tls_key, "/k\"ey: #.pem");
  EXPECT_EQ(prod.security.tls_ca, "/ca.pem");
  EXPECT_EQ(prod.security.token_file, "/token");
  EXPECT_FALSE(read->contexts.at("local").security.HasTls());
}

TEST_F(ContextFileTest, ALinkStaysAndWhatItLeadsToIsReplaced) {
  const std::string kept = folder_ + "/dotfiles/contexts.yaml";
  std::filesystem::create_directories(folder_ + "/dotfiles");
  std::filesystem::create_directories(folder_ + "/rekindle");
  std::ofstream(kept) << "contexts: {old: {endpoint: a:1}}";
  std::filesystem::create_symlink(kept, path());
  Contexts contexts;
  contexts.contexts["new"] = {.endpoint = "b:2"};
  ASSERT_TRUE(WriteContexts(path(), contexts).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  const auto read = ReadContexts(kept);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->contexts.count("new"), 1u);
}

TEST_F(ContextFileTest, ThereNeedBeNoFile) {
  const auto read = ReadContexts(path());
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->contexts.empty());
  EXPECT_TRUE(ReadContexts("").ok());
  EXPECT_EQ(ErrorOf(""), "");
}

TEST_F(ContextFileTest, ADamagedOneIsRefusedWithItsLine) {
  EXPECT_THAT(ErrorOf("curent: a\n"), HasSubstr("contexts.yaml:1: `curent` is not a field; did you mean `current`?"));
  EXPECT_THAT(ErrorOf("current: a\ncurrent: b\n"), HasSubstr(":2: `current` is given twice"));
  EXPECT_THAT(ErrorOf("contexts: [a]\n"), HasSubstr("must be a mapping of names"));
  EXPECT_THAT(ErrorOf("contexts:\n  a: {}\n"), HasSubstr("context a has no `endpoint`"));
  EXPECT_THAT(ErrorOf("contexts:\n  a: {endpoint: [x]}\n"), HasSubstr(":2: `endpoint` of a must be one value"));
  EXPECT_THAT(ErrorOf("contexts:\n  a: {endpoint: x, token: y}\n"), HasSubstr("did you mean `token_file`?"));
  EXPECT_THAT(ErrorOf("contexts:\n  'a b': {endpoint: x}\n"), HasSubstr("'a b' is no name of a context"));
  EXPECT_THAT(ErrorOf("{"), HasSubstr("no YAML"));
  EXPECT_THAT(ErrorOf("text"), HasSubstr("must be a mapping of fields"));
}

TEST_F(ContextFileTest, AnUnknownNameIsToldWhichThereAre) {
  Contexts contexts;
  EXPECT_THAT(std::string(FindContext(contexts, "prod").status().message()), HasSubstr("there are none"));
  contexts.contexts = {{"prod", {}}, {"staging", {}}};
  EXPECT_TRUE(FindContext(contexts, "prod").ok());
  const absl::Status unknown = FindContext(contexts, "prd").status();
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_EQ(unknown.message(), "there is no context 'prd'; there are: prod, staging; did you mean prod?");
}

TEST_F(ContextFileTest, NamesArePlain) {
  for (const char* name : {"prod", "us-east_1.b", "9"}) EXPECT_TRUE(IsContextName(name)) << name;
  for (const char* name : {"", "-x", ".x", "a b", "a/b", "$(x)", "a\nb"}) EXPECT_FALSE(IsContextName(name)) << name;
  EXPECT_FALSE(IsContextName(std::string(64, 'a')));
}

}  // namespace
}  // namespace rekindle::cli
