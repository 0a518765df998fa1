#include "common/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "common/testing/fault_file.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Checks what both the real file system and the in-memory one for tests promise.
class FileSystemTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      fs_ = PosixFileSystem();
    } else {
      fs_ = &memory_;
      ASSERT_TRUE(CreateFolders(*fs_, root_).ok());
    }
  }

  TemporaryFolder temporary_;
  FaultFileSystem memory_;
  FileSystem* fs_ = nullptr;
  const std::string root_ = temporary_.path();
};

TEST_P(FileSystemTest, WritesListsAndReads) {
  ASSERT_TRUE(CreateFolders(*fs_, root_ + "/a/b").ok());
  ASSERT_TRUE(CreateFolders(*fs_, root_ + "/a/b").ok());
  ASSERT_TRUE(WriteFileAtomic(*fs_, root_ + "/a/b/file", "one").ok());
  ASSERT_TRUE(WriteFileAtomic(*fs_, root_ + "/a/b/file", "three").ok());
  EXPECT_THAT(fs_->List(root_ + "/a/b").value(), ElementsAre("file"));
  EXPECT_EQ(ReadFile(*fs_, root_ + "/a/b/file", 5).value(), "three");
  EXPECT_EQ(fs_->Stat(root_ + "/a/b/file")->size, 5);
  EXPECT_TRUE(fs_->Stat(root_ + "/a/b")->is_folder);
  ASSERT_TRUE(fs_->Remove(root_ + "/a/b/file").ok());
  EXPECT_THAT(fs_->List(root_ + "/a/b").value(), IsEmpty());
}

TEST_P(FileSystemTest, OverwrittenBytesAreReplacedAndTheEndStaysWhereItIs) {
  const Blocks memory = NewBlocks(2 * kBlockBytes);
  std::memset(memory.get(), 'a', 2 * kBlockBytes);
  auto file = fs_->Create(root_ + "/file").value();
  ASSERT_TRUE(file->Append(memory.get(), 2 * kBlockBytes).ok());
  ASSERT_TRUE(file->Overwrite(10, "xyz", 3).ok());
  ASSERT_TRUE(file->Append("end", 3).ok());
  ASSERT_TRUE(file->Close().ok());
  std::string expected(2 * kBlockBytes, 'a');
  expected.replace(10, 3, "xyz");
  EXPECT_EQ(ReadFile(*fs_, root_ + "/file", 1 << 20).value(), expected + "end");
}

// Appends of whole blocks may bypass the page cache, and other appends go through it. The test appends whole blocks at
// the start of the file, after other whole blocks and after a partial block.
TEST_P(FileSystemTest, BlocksAndRestsStayInOrder) {
  const size_t sizes[] = {3 * kBlockBytes, kBlockBytes + 100, 2 * kBlockBytes, kBlockBytes - 100, kBlockBytes, 7};
  const Blocks memory = NewBlocks(3 * kBlockBytes);
  auto file = fs_->Create(root_ + "/file").value();
  std::string expected;
  for (size_t bytes : sizes) {
    for (size_t i = 0; i < bytes; ++i) memory.get()[i] = static_cast<uint8_t>(expected.size() + i * 31 / 7);
    ASSERT_TRUE(file->Append(memory.get(), bytes).ok());
    expected.append(reinterpret_cast<const char*>(memory.get()), bytes);
  }
  ASSERT_TRUE(file->Sync().ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(ReadFile(*fs_, root_ + "/file", 1 << 20).value(), expected);
}

TEST_P(FileSystemTest, ErrorsNameThePath) {
  const std::string gone = root_ + "/gone";
  EXPECT_TRUE(absl::IsNotFound(fs_->Open(gone).status()));
  EXPECT_THAT(std::string(fs_->Open(gone).status().message()), HasSubstr(gone));
  EXPECT_TRUE(absl::IsNotFound(fs_->List(gone).status()));
  EXPECT_TRUE(absl::IsNotFound(fs_->Stat(gone).status()));
  EXPECT_TRUE(absl::IsNotFound(fs_->Remove(gone)));
  EXPECT_TRUE(absl::IsNotFound(fs_->Touch(gone)));
  EXPECT_TRUE(absl::IsNotFound(fs_->Create(gone + "/file").status()));
  ASSERT_TRUE(WriteFileAtomic(*fs_, root_ + "/file", "x").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(fs_->Create(root_ + "/file").status()));
  EXPECT_TRUE(absl::IsAlreadyExists(CreateFolders(*fs_, root_ + "/file")));
  EXPECT_FALSE(CreateFolders(*fs_, root_ + "/file/below").ok());
}

TEST_P(FileSystemTest, ReadsAreBounded) {
  ASSERT_TRUE(WriteFileAtomic(*fs_, root_ + "/file", "12345678").ok());
  EXPECT_TRUE(absl::IsOutOfRange(ReadFile(*fs_, root_ + "/file", 7).status()));
  const auto file = fs_->Open(root_ + "/file");
  char buffer[16];
  EXPECT_EQ((*file)->ReadAt(5, buffer, sizeof(buffer)).value(), 3u);
  EXPECT_EQ((*file)->ReadAt(100, buffer, sizeof(buffer)).value(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Posix" : "Fault"; });

// Reads ranges that are in the page cache and ranges that are not, at offsets and in sizes that are whole blocks and
// that are not.
TEST(PosixFileSystemTest, ReadsTheSameThroughAndPastThePageCache) {
  char path[] = "/tmp/rekindle-file-test-XXXXXX";
  const int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  std::string expected(40 * kBlockBytes + 1234, '\0');
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<char>(i * 31 / 7 + i / kBlockBytes);
  ASSERT_EQ(::write(fd, expected.data(), expected.size()), static_cast<ssize_t>(expected.size()));
  ASSERT_EQ(::fsync(fd), 0);
  const auto file = PosixFileSystem()->Open(path).value();
  const Blocks memory = NewBlocks(expected.size());
  for (const bool evicted : {false, true}) {
    for (const size_t offset : {size_t{0}, 8 * kBlockBytes, size_t{100}, expected.size() - 50}) {
      ASSERT_EQ(::posix_fadvise(fd, 0, 0, evicted ? POSIX_FADV_DONTNEED : POSIX_FADV_NORMAL), 0);
      const size_t rest = expected.size() - offset;
      ASSERT_EQ(file->ReadAt(static_cast<int64_t>(offset), memory.get(), expected.size()).value(), rest);
      EXPECT_EQ(std::memcmp(memory.get(), expected.data() + offset, rest), 0) << offset << (evicted ? " evicted" : "");
    }
  }
  ::close(fd);
  std::filesystem::remove(path);
}

TEST(PosixFileSystemTest, OpensNoFifo) {
  const TemporaryFolder folder;
  const std::string fifo = folder.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(PosixFileSystem()->Open(fifo).status()));
}

TEST(PosixFileSystemTest, WhatItCreatesIsForItsUserAloneOrForAGroupToRead) {
  const auto mode_of = [](const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 0777u;
  };
  const mode_t before = ::umask(0);
  for (const mode_t mask : {mode_t{0}, mode_t{0077}}) {
    ::umask(mask);
    const TemporaryFolder folder;
    const std::string& root = folder.path();
    ASSERT_TRUE(CreateFolders(*PosixFileSystem(), root + "/own/deep").ok());
    ASSERT_TRUE(WriteFileAtomic(*PosixFileSystem(), root + "/own/file", "x").ok());
    // `NewGroupFileSystem` returns an object that lives for ever, so the test makes only one.
    static FileSystem& shared = *NewGroupFileSystem(::getegid());
    ASSERT_TRUE(CreateFolders(shared, root + "/shared/deep").ok());
    ASSERT_TRUE(WriteFileAtomic(shared, root + "/shared/file", "x").ok());
    EXPECT_EQ(mode_of(root + "/own"), 0700u);
    EXPECT_EQ(mode_of(root + "/own/deep"), 0700u);
    EXPECT_EQ(mode_of(root + "/own/file"), 0600u);
    EXPECT_EQ(mode_of(root + "/shared"), 0750u);
    EXPECT_EQ(mode_of(root + "/shared/deep"), 0750u);
    EXPECT_EQ(mode_of(root + "/shared/file"), 0640u);
  }
  ::umask(before);
}

TEST(ErrnoStatusTest, SaysWhatKind) {
  EXPECT_TRUE(absl::IsResourceExhausted(ErrnoStatus(ENOSPC, "cannot write", "/f")));
  EXPECT_TRUE(absl::IsPermissionDenied(ErrnoStatus(EROFS, "cannot write", "/f")));
  EXPECT_TRUE(absl::IsInternal(ErrnoStatus(EIO, "cannot write", "/f")));
  EXPECT_THAT(std::string(ErrnoStatus(ENOSPC, "cannot write", "/f").message()), HasSubstr("/f: No space left"));
}

TEST(FaultFileSystemTest, CrashLosesWhatWasNotSynced) {
  FaultFileSystem fs;
  ASSERT_TRUE(CreateFolders(fs, "/d").ok());
  ASSERT_TRUE(WriteFileAtomic(fs, "/d/kept", "kept").ok());
  auto file = fs.Create("/d/lost").value();
  ASSERT_TRUE(file->Append("lost", 4).ok());
  // A file that is synced without its folder has durable bytes, but no durable name.
  ASSERT_TRUE(file->Sync().ok());
  auto half = fs.Create("/d/half").value();
  ASSERT_TRUE(half->Append("ha", 2).ok());
  ASSERT_TRUE(half->Sync().ok());
  ASSERT_TRUE(fs.SyncDir("/d").ok());
  ASSERT_TRUE(half->Append("lf", 2).ok());
  ASSERT_TRUE(fs.Rename("/d/lost", "/d/renamed").ok());
  fs.Crash(0);
  EXPECT_THAT(fs.Files(), ElementsAre("/d/half", "/d/kept", "/d/lost"));
  EXPECT_EQ(fs.Get("/d/half"), "ha");
}

TEST(FaultFileSystemTest, AtomicWriteIsAllOrNothingAtEveryCrash) {
  for (int64_t at = 0; at < 6; ++at) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      FaultFileSystem fs;
      ASSERT_TRUE(CreateFolders(fs, "/d").ok());
      ASSERT_TRUE(WriteFileAtomic(fs, "/d/file", "old").ok());
      fs.FailAt(at, absl::InternalError("crashed"), /*for_ever=*/true);
      const bool written = WriteFileAtomic(fs, "/d/file", "new!").ok();
      EXPECT_FALSE(written);
      fs.Crash(seed);
      const std::string content = fs.Get("/d/file");
      EXPECT_TRUE(content == "old" || content == "new!") << "operation " << at << ", seed " << seed << ": " << content;
    }
  }
}

TEST(FaultFileSystemTest, FailsOnce) {
  FaultFileSystem fs;
  fs.FailAt(1, absl::ResourceExhaustedError("full"), /*for_ever=*/false);
  EXPECT_TRUE(fs.CreateFolder("/a").ok());
  EXPECT_TRUE(absl::IsResourceExhausted(fs.CreateFolder("/b")));
  EXPECT_TRUE(fs.CreateFolder("/b").ok());
  EXPECT_THAT(fs.operations(), ElementsAre("mkdir /a", "mkdir /b", "mkdir /b"));
}

}  // namespace
}  // namespace rekindle::common
