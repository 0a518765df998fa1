#include "coordinator/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

namespace rekindle::coordinator {
namespace {

TEST(DataFolder, IsHeldByOneAtATime) {
  char root[] = "/tmp/rk-folder-XXXXXX";
  ASSERT_NE(mkdtemp(root), nullptr);
  const std::string path = std::string(root) + "/a/b";
  {
    auto first = DataFolder::Open(path);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(first->File("x"), path + "/x");
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);

    const auto second = DataFolder::Open(path);
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(second.status().message()), testing::HasSubstr("pid " + std::to_string(getpid())));
    EXPECT_THAT(std::string(second.status().message()), testing::HasSubstr(path));

    DataFolder moved = *std::move(first);
    EXPECT_FALSE(DataFolder::Open(path).ok());
  }
  EXPECT_TRUE(DataFolder::Open(path).ok());
  std::filesystem::remove_all(root);
}

TEST(DataFolder, OneThatIsBeingGivenUpIsWaitedFor) {
  char root[] = "/tmp/rk-folder-XXXXXX";
  ASSERT_NE(mkdtemp(root), nullptr);
  auto first = std::make_unique<absl::StatusOr<DataFolder>>(DataFolder::Open(root));
  ASSERT_TRUE(first->ok());
  std::thread gives_up([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // It may be given up sooner: then nobody waits.
    first.reset();
  });
  EXPECT_TRUE(DataFolder::Open(root).ok());
  gives_up.join();
  std::filesystem::remove_all(root);
}

TEST(DataFolder, SaysWhyItCannotBeUsed) {
  char root[] = "/tmp/rk-folder-XXXXXX";
  ASSERT_NE(mkdtemp(root), nullptr);
  std::ofstream(std::string(root) + "/file") << "x";
  const auto inside_file = DataFolder::Open(std::string(root) + "/file/data");
  EXPECT_EQ(inside_file.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(inside_file.status().message()), testing::HasSubstr("Not a directory"));
  EXPECT_THAT(std::string(DataFolder::Open("").status().message()), testing::HasSubstr("--data is missing"));
  std::filesystem::remove_all(root);
}

TEST(DataFolder, WhatAnotherUserMadeIsNotUsed) {
  char root[] = "/tmp/rk-folder-XXXXXX";
  ASSERT_NE(mkdtemp(root), nullptr);
  const std::string path = std::string(root) + "/data", victim = std::string(root) + "/victim";
  std::filesystem::create_directory(path);
  std::ofstream(victim) << "kept";
  std::filesystem::create_symlink(victim, path + "/lock");
  EXPECT_THAT(std::string(DataFolder::Open(path).status().message()), testing::HasSubstr("/lock is a link"));
  EXPECT_EQ(std::filesystem::file_size(victim), 4u) << "what the link leads to is not written";
  std::filesystem::remove(path + "/lock");
  EXPECT_TRUE(DataFolder::Open(path).ok());
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    const absl::Status refused = DataFolder::Open(path).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("belongs to user 65534, and this is user 0"));
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace rekindle::coordinator
