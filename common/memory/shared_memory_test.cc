#include "common/memory/shared_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cstring>
#include <filesystem>

#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

using Access = SharedMemory::Access;

class SharedMemoryTest : public ::testing::Test {
 protected:
  TemporaryFolder temporary_{"/dev/shm"};
  const std::string folder_ = temporary_.path();
};

TEST_F(SharedMemoryTest, OneWritesAnotherReads) {
  const std::string path = folder_ + "/segment";
  auto mine = SharedMemory::Create(path, 100'000);
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_EQ(mine->data()[99'999], 0);
  const auto theirs = SharedMemory::Map(path, 100'000, Access::kRead);
  ASSERT_TRUE(theirs.ok()) << theirs.status();
  std::memset(mine->data(), 7, mine->size());
  EXPECT_EQ(theirs->data()[50'000], 7);
  EXPECT_TRUE(absl::IsAlreadyExists(CreateSharedMemory(path, 5)));
  ASSERT_TRUE(RemoveSharedMemory(path).ok());
  ASSERT_TRUE(RemoveSharedMemory(path).ok());
  // Mappings stay valid after the segment's file is removed.
  EXPECT_EQ(theirs->data()[0], 7);
}

TEST_F(SharedMemoryTest, OnlyTheExactSizeIsMapped) {
  const std::string path = folder_ + "/segment";
  ASSERT_TRUE(CreateSharedMemory(path, 4096).ok());
  for (size_t bytes : {0, 4095, 4097, 1 << 30}) {
    EXPECT_TRUE(absl::IsInvalidArgument(SharedMemory::Map(path, bytes, Access::kReadWrite).status())) << bytes;
  }
  EXPECT_TRUE(absl::IsNotFound(SharedMemory::Map(folder_ + "/other", 4096, Access::kRead).status()));
  EXPECT_FALSE(SharedMemory::Map(folder_, 4096, Access::kRead).ok());
}

TEST_F(SharedMemoryTest, MovesLeaveNothingBehind) {
  auto first = SharedMemory::Create(folder_ + "/segment", 4096).value();
  SharedMemory second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_EQ(second.size(), 4096u);
  first = std::move(second);
  EXPECT_EQ(first.size(), 4096u);
}

TEST_F(SharedMemoryTest, AFullFolderIsAnErrorNotASignal) {
  const std::string small = folder_ + "/small";
  std::filesystem::create_directory(small);
  if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "cannot mount a tmpfs: not root";
  const absl::Status full = CreateSharedMemory(small + "/large", 4 << 20);
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_THAT(std::string(full.message()), ::testing::HasSubstr(small));
  EXPECT_TRUE(std::filesystem::is_empty(small));
  EXPECT_TRUE(CreateSharedMemory(small + "/fits", 512 << 10).ok());
  ::umount(small.c_str());
}

}  // namespace
}  // namespace rekindle::common
