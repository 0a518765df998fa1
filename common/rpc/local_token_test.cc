#include "common/rpc/local_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr int kPort = 7070;
constexpr uid_t kNobody = 65534;

class LocalTokenTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(mkdir(Runtime().c_str(), 0700) | mkdir(Home().c_str(), 0700), 0);
    setenv("XDG_RUNTIME_DIR", Runtime().c_str(), 1);
    setenv("HOME", Home().c_str(), 1);
    // With umask 0 a token file is private only if the code gives it a private mode.
    mask_ = umask(0);
  }
  void TearDown() override { umask(mask_); }

  std::string Runtime() const { return folder_ + "/run"; }
  std::string Home() const { return folder_ + "/home"; }
  static std::string MakeToken(const std::string& path) {
    EXPECT_TRUE(MakeTokenFile(path).ok());
    return ReadToken(path).value_or("");
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  // Returns the names of the copies of tokens in a folder.
  static std::vector<std::string> Copies(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.rfind("token-", 0) == 0) names.push_back(name);
    }
    return names;
  }

  TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  mode_t mask_ = 0;
};

TEST_F(LocalTokenTest, ATokenFileIsMadeOnceAndNamesItsUser) {
  const std::string path = folder_ + "/token";
  const std::string token = MakeToken(path);
  EXPECT_EQ(OwnerNamedBy(token), geteuid());
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_EQ(MakeToken(path), token) << "the same after a restart";
  EXPECT_NE(MakeToken(folder_ + "/other"), token);
  std::ofstream(path) << "short";
  EXPECT_THAT(std::string(MakeTokenFile(path).message()), HasSubstr("under 16 characters"));
}

TEST_F(LocalTokenTest, ATokenFileThatSomebodyElseMadeIsNotUsed) {
  const std::string path = folder_ + "/token";
  std::ofstream(folder_ + "/known") << std::string(20, 'a');
  fs::create_symlink(folder_ + "/known", path);
  EXPECT_THAT(std::string(MakeTokenFile(path).message()), HasSubstr("no file of this user's"));
  fs::remove(path);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  std::ofstream(path) << std::string(20, 'a');
  ASSERT_TRUE(MakeTokenFile(path).ok());
  ASSERT_EQ(chown(path.c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(std::string(MakeTokenFile(path).message()), HasSubstr("no file of this user's"));
}

TEST_F(LocalTokenTest, OnlyATokenMadeHereNamesAUser) {
  for (const char* other : {"", "0123456789abcdef", "u-0123456789abcdef", "u1000-0123456789abcdef", "u1000"}) {
    EXPECT_FALSE(OwnerNamedBy(other).has_value()) << other;
  }
  EXPECT_EQ(OwnerNamedBy("u1000-" + std::string(64, 'a')), 1000u);
  EXPECT_FALSE(OwnerNamedBy("u-1-" + std::string(64, 'a')).has_value());
}

TEST_F(LocalTokenTest, IsFoundByThePortAsLongAsItIsPublished) {
  const std::string token = MakeToken(folder_ + "/token");
  EXPECT_EQ(FindToken(kPort).status().code(), absl::StatusCode::kNotFound);
  {
    const auto published = PublishedToken::Publish(kPort, token);
    ASSERT_TRUE(published.ok()) << published.status();
    EXPECT_EQ(FindToken(kPort).value_or(""), token);
    EXPECT_FALSE(FindToken(kPort + 1).ok());
    for (const std::string& folder : {Runtime() + "/rekindle", Home() + "/.local/state/rekindle"}) {
      EXPECT_EQ(ModeOf(folder), 0700u);
      ASSERT_EQ(Copies(folder).size(), 1u) << folder;
      EXPECT_EQ(ModeOf(folder + "/" + Copies(folder)[0]), 0600u);
    }
    // Removes the runtime folder, as a logout does. The copy of the token in the home folder must still be found.
    fs::remove_all(Runtime());
    EXPECT_EQ(FindToken(kPort).value_or(""), token);
  }
  EXPECT_FALSE(FindToken(kPort).ok());
  EXPECT_TRUE(Copies(Home() + "/.local/state/rekindle").empty());
}

TEST_F(LocalTokenTest, TheNextServiceOnAPortReplacesTheCopyAndTheFirstOnesEndLeavesIt) {
  auto first = PublishedToken::Publish(kPort, std::string(20, 'a'));
  ASSERT_TRUE(first.ok());
  const auto second = PublishedToken::Publish(kPort, std::string(20, 'b'));
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(FindToken(kPort).value_or(""), std::string(20, 'b'));
  first = absl::CancelledError("it ends");
  EXPECT_EQ(FindToken(kPort).value_or(""), std::string(20, 'b'));
}

TEST_F(LocalTokenTest, WhatAKilledServiceLeftIsRemovedByTheNextOneAndNothingElse) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t killed = fork();
  if (killed == 0) {
    const auto published = PublishedToken::Publish(kPort, std::string(20, 'a'));
    const char byte = published.ok() ? 'y' : 'n';
    _exit(write(ready[1], &byte, 1) == 1 ? pause() : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto lives = PublishedToken::Publish(kPort + 1, std::string(20, 'b'));
  ASSERT_TRUE(lives.ok());
  EXPECT_TRUE(FindToken(kPort).ok()) << "its process lives";
  kill(killed, SIGKILL);
  waitpid(killed, nullptr, 0);
  EXPECT_TRUE(FindToken(kPort).ok()) << "it says what to send, not to whom";
  const auto next = PublishedToken::Publish(kPort + 2, std::string(20, 'c'));
  ASSERT_TRUE(next.ok());
  EXPECT_FALSE(FindToken(kPort).ok());
  EXPECT_TRUE(FindToken(kPort + 1).ok());
}

TEST_F(LocalTokenTest, WhatOthersCouldHaveMadeOrReadIsNoToken) {
  const auto published = PublishedToken::Publish(kPort, std::string(20, 'a'));
  ASSERT_TRUE(published.ok());
  fs::remove_all(Home());
  const std::string folder = Runtime() + "/rekindle", copy = folder + "/" + Copies(folder).at(0);
  ASSERT_TRUE(FindToken(kPort).ok());
  ASSERT_EQ(chmod(copy.c_str(), 0644), 0);
  EXPECT_FALSE(FindToken(kPort).ok()) << "others may read it";
  ASSERT_EQ(chmod(copy.c_str(), 0600), 0);
  fs::rename(copy, folder + "/aside");
  fs::create_symlink("aside", copy);
  EXPECT_FALSE(FindToken(kPort).ok()) << "a link";
  fs::rename(folder + "/aside", copy);
  ASSERT_TRUE(FindToken(kPort).ok());
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(copy.c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(FindToken(kPort).ok()) << "another user's file";
  ASSERT_EQ(chown(copy.c_str(), 0, 0), 0);
  ASSERT_EQ(chown(folder.c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(FindToken(kPort).ok()) << "another user's folder";
  const auto refused = PublishedToken::Publish(kPort, std::string(20, 'b'));
  EXPECT_EQ(Copies(folder).size(), 1u) << "nothing is written there";
}

TEST_F(LocalTokenTest, WithoutAFolderItSaysSo) {
  setenv("XDG_RUNTIME_DIR", (folder_ + "/none/run").c_str(), 1);
  std::ofstream(folder_ + "/none") << "a file";
  setenv("HOME", (folder_ + "/none/home").c_str(), 1);
  EXPECT_EQ(PublishedToken::Publish(kPort, std::string(20, 'a')).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace rekindle::common
