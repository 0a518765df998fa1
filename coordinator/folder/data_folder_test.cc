#include "coordinator/folder/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::coordinator {
namespace {

TEST(DataFolder, IsHeldByOneAtATime) {
  const common::TemporaryFolder temporary;
  const std::string& root = temporary.path();
  const std::string path = root + "/a/b";
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
}

TEST(DataFolder, OneThatIsBeingGivenUpIsWaitedFor) {
  const common::TemporaryFolder temporary;
  const std::string& root = temporary.path();
  auto first = std::make_unique<absl::StatusOr<DataFolder>>(DataFolder::Open(root));
  ASSERT_TRUE(first->ok());
  std::thread gives_up([&] {
    // If the machine is slow, the first holder may release the folder before the second opens it. The test passes then,
    // too.
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first.reset();
  });
  EXPECT_TRUE(DataFolder::Open(root).ok());
  gives_up.join();
}

TEST(DataFolder, SaysWhyItCannotBeUsed) {
  const common::TemporaryFolder temporary;
  const std::string& root = temporary.path();
  std::ofstream(root + "/file") << "x";
  const auto inside_file = DataFolder::Open(root + "/file/data");
  EXPECT_EQ(inside_file.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(inside_file.status().message()), testing::HasSubstr("Not a directory"));
  EXPECT_THAT(std::string(DataFolder::Open("").status().message()), testing::HasSubstr("--data is missing"));
}

TEST(DataFolder, WhatAnotherUserMadeIsNotUsed) {
  const common::TemporaryFolder temporary;
  const std::string& root = temporary.path();
  const std::string path = root + "/data", victim = root + "/victim";
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
}

}  // namespace
}  // namespace rekindle::coordinator
