#include "cli/connection/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/connection/context_file.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::cli {
namespace {

// Sets up the contexts `prod`, which is used, and `other`. No variables are set.
class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    for (const char* name : kVariables) unsetenv(name);
    Contexts contexts{.current = "prod"};
    contexts.contexts["prod"] = {.endpoint = "prod:1", .security = {.tls_ca = "/prod/ca", .token_file = "/prod/token"}};
    contexts.contexts["other"] = {.endpoint = "other:2", .security = {.token_file = "/other/token"}};
    ASSERT_TRUE(WriteContexts(ContextsPath(), contexts).ok());
  }
  void TearDown() override {
    for (const char* name : kVariables) unsetenv(name);
    unsetenv("XDG_CONFIG_HOME");
  }

  Connection Resolved(const ConnectionFlags& flags) {
    const auto connection = ResolveConnection(flags);
    EXPECT_TRUE(connection.ok()) << connection.status();
    return connection.ok() ? *connection : Connection();
  }

  static constexpr const char* kVariables[] = {"REKINDLE_ENDPOINT", "REKINDLE_CONTEXT", "REKINDLE_TLS_CA",
                                               "REKINDLE_TLS_CERT", "REKINDLE_TLS_KEY", "REKINDLE_TOKEN_FILE"};
  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(ConnectionTest, TheDefaultIsThisMachine) {
  std::filesystem::remove_all(folder_);
  const Connection connection = Resolved({});
  EXPECT_EQ(connection.endpoint, "127.0.0.1:7070");
  EXPECT_EQ(connection.context, "");
}

TEST_F(ConnectionTest, TheContextComesBeforeTheDefault) {
  const Connection connection = Resolved({});
  EXPECT_EQ(connection.endpoint, "prod:1");
  EXPECT_EQ(connection.context, "prod");
  EXPECT_EQ(connection.security.tls_ca, "/prod/ca");
  EXPECT_EQ(connection.security.token_file, "/prod/token");
}

TEST_F(ConnectionTest, VariablesComeBeforeTheContext) {
  setenv("REKINDLE_TOKEN_FILE", "/variable/token", 1);
  EXPECT_EQ(Resolved({}).endpoint, "prod:1");
  EXPECT_EQ(Resolved({}).security.token_file, "/variable/token");
  EXPECT_EQ(Resolved({}).security.tls_ca, "/prod/ca");
  setenv("REKINDLE_CONTEXT", "other", 1);
  EXPECT_EQ(Resolved({}).endpoint, "other:2");
}

TEST_F(ConnectionTest, FlagsComeBeforeAll) {
  setenv("REKINDLE_ENDPOINT", "variable:3", 1);
  setenv("REKINDLE_TOKEN_FILE", "/variable/token", 1);
  ConnectionFlags flags{.endpoint = "flag:4"};
  EXPECT_EQ(Resolved(flags).endpoint, "flag:4");
  EXPECT_EQ(Resolved(flags).security.token_file, "/variable/token");
  flags.security.token_file = "/flag/token";
  EXPECT_EQ(Resolved(flags).security.token_file, "/flag/token");
}

TEST_F(ConnectionTest, AContextThatAFlagNamesComesBeforeVariables) {
  setenv("REKINDLE_ENDPOINT", "variable:3", 1);
  setenv("REKINDLE_TOKEN_FILE", "/variable/token", 1);
  const Connection connection = Resolved({.context = "other"});
  EXPECT_EQ(connection.endpoint, "other:2");
  EXPECT_EQ(connection.security.token_file, "/other/token");
}

TEST_F(ConnectionTest, ATokenOfAContextGoesToNobodyElse) {
  EXPECT_EQ(Resolved({.endpoint = "elsewhere:5"}).security.token_file, "");
  setenv("REKINDLE_ENDPOINT", "elsewhere:5", 1);
  EXPECT_EQ(Resolved({}).security.token_file, "");
  EXPECT_FALSE(Resolved({}).security.HasTls());
}

TEST_F(ConnectionTest, AContextThatIsNotThere) {
  const absl::Status status = ResolveConnection({.context = "prot"}).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("there are: other, prod"));
}

}  // namespace
}  // namespace rekindle::cli
