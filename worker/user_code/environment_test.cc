#include "worker/user_code/environment.h"

#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::user_code {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class Values : public ::testing::Test {
 protected:
  void Write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  common::TemporaryFolder temporary_;
  const std::string path_ = temporary_.path() + "/env_from";
};

TEST_F(Values, OnlyTheNamesThatAreAskedForAreRead) {
  Write("# tokens\nA=1=2\n\nB= x \nC=secret\n");
  const auto values = ReadValues(path_, {"B", "A"});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT(*values, ElementsAre(Pair("B", " x "), Pair("A", "1=2")));
  EXPECT_TRUE(ReadValues(temporary_.path() + "/none", {})->empty());
}

TEST_F(Values, AFileThatOthersMayReadIsRefused) {
  for (const mode_t mode : {0640, 0604, 0620}) {
    Write("A=secret\n", mode);
    const absl::Status refused = ReadValues(path_, {"A"}).status();
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("secret")));
  }
}

TEST_F(Values, WhatIsMissingIsNamedWithTheFix) {
  EXPECT_THAT(std::string(ReadValues(path_, {"A"}).status().message()), HasSubstr("NAME=VALUE"));
  Write("B=secret\n");
  const absl::Status missing = ReadValues(path_, {"A"}).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(std::string(missing.message()), HasSubstr("A=VALUE"));
  EXPECT_THAT(std::string(missing.message()), Not(HasSubstr("secret")));
}

TEST_F(Values, NamesThatDecideAboutWhatRunsAreRefused) {
  Write("LD_PRELOAD=/tmp/x.so\n");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadValues(path_, {"LD_PRELOAD"}).status()));
  for (const char* name : {"PATH", "PYTHONPATH", "REKINDLE_TOKEN_FILE", "OMP_NUM_THREADS", "1A", "A=B", "", "A B"}) {
    EXPECT_FALSE(CheckName(name).ok()) << name;
  }
  for (const char* name : {"HF_TOKEN", "WANDB_API_KEY", "a_1"}) EXPECT_TRUE(CheckName(name).ok()) << name;
}

TEST(CodeEnvironment, ItIsBuiltFromNothing) {
  const std::vector<std::string> environment =
      CodeEnvironment({.interpreter = "/opt/venv/bin/python3",
                       .home = "/code/scratch",
                       .scratch = "/code/scratch",
                       .own = {"AWS_SECRET_ACCESS_KEY=k", "REKINDLE_TOKEN_FILE=/t", "PYTHONPATH=/lib/python", "PATH=/x",
                               "TZ=UTC", "PYTHONSTARTUP=/x"},
                       .pinned = {{"OMP_NUM_THREADS", "2"}},
                       .from_node = {{"HF_TOKEN", "t"}, {"OMP_NUM_THREADS", "9"}}});
  EXPECT_THAT(environment, ElementsAre("HF_TOKEN=t", "HOME=/code/scratch", "LANG=C.UTF-8", "LOGNAME=rekindle",
                                       "OMP_NUM_THREADS=2", "PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin",
                                       "PYTHONHASHSEED=0", "PYTHONPATH=/lib/python", "TMPDIR=/code/scratch", "TZ=UTC",
                                       "USER=rekindle", "XDG_CACHE_HOME=/code/scratch/.cache"));
}

}  // namespace
}  // namespace rekindle::user_code
