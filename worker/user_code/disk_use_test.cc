#include "worker/user_code/disk_use.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "common/files/unique_fd.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::user_code {
namespace {

class Disk : public ::testing::Test {
 protected:
  void Fill(const std::string& name, size_t bytes) { std::ofstream(At(name)) << std::string(bytes, 'x'); }
  std::string At(const std::string& name) const { return temporary_.path() + "/" + name; }
  DiskUse Use(const DiskLimits& limits = {}) const { return MeasureDiskUse(geteuid(), {temporary_.path()}, limits); }

  // Gives all that is in the folder to a user who has no processes, if this process may, and returns the owner. What
  // other processes of this user have open counts as well, and changes.
  uid_t Owner() const {
    if (geteuid() != 0) return geteuid();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(temporary_.path())) {
      EXPECT_EQ(lchown(entry.path().c_str(), kJob, kJob), 0) << entry.path();
    }
    return kJob;
  }

  // Tests use an id that no node uses.
  static constexpr uid_t kJob = 4'199'999'100;
  common::TemporaryFolder temporary_;
};

TEST_F(Disk, FilesOfAnyDepthAreCountedOnce) {
  std::filesystem::create_directories(At("a/b"));
  Fill("a/b/file", 1 << 20);
  std::filesystem::create_hard_link(At("a/b/file"), At("again"));
  std::filesystem::create_symlink("/", At("root"));
  const uid_t owner = Owner();
  const DiskUse use = MeasureDiskUse(owner, {temporary_.path()}, {});
  const DiskUse elsewhere = MeasureDiskUse(owner, {}, {});
  EXPECT_GE(use.bytes - elsewhere.bytes, 1 << 20);
  EXPECT_LT(use.bytes - elsewhere.bytes, 2 << 20);
  EXPECT_EQ(use.files - elsewhere.files, 4) << "two folders, a file and a link";
  EXPECT_TRUE(use.is_whole);
  EXPECT_EQ(MeasureDiskUse(owner + 1, {temporary_.path()}, {}).files, 0);
}

TEST_F(Disk, AFileWithoutANameIsCounted) {
  const DiskUse before = Use();
  const common::UniqueFd file(open(At("gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(posix_fallocate(file.get(), 0, 8 << 20), 0);
  ASSERT_EQ(unlink(At("gone").c_str()), 0);
  EXPECT_GE(Use().bytes - before.bytes, 8 << 20);
}

TEST_F(Disk, AFileThatIsOnlyMappedIsCounted) {
  const DiskUse before = Use();
  common::UniqueFd file(open(At("gone").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(posix_fallocate(file.get(), 0, 8 << 20), 0);
  void* const memory = mmap(nullptr, 8 << 20, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(unlink(At("gone").c_str()), 0);
  file.Reset();
  const int64_t mapped = Use().bytes - before.bytes;
  ASSERT_EQ(munmap(memory, 8 << 20), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root may look at what processes have mapped";
  EXPECT_GE(mapped, 8 << 20);
  EXPECT_LT(Use().bytes - before.bytes, 8 << 20);
}

TEST_F(Disk, FoldersOfOthersAreNotTooDeep) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  std::string path = At("deep");
  for (int i = 0; i < 80; ++i) path += "/d";
  std::filesystem::create_directories(path);
  EXPECT_TRUE(MeasureDiskUse(kJob, {temporary_.path()}, {}).is_whole) << "it would cost a job its processes";
  EXPECT_FALSE(Use().is_whole);
  // Nobody else can put anything into such a folder.
  std::filesystem::create_directories(At("closed/in"));
  for (const char* name : {"closed", "closed/in"}) {
    std::filesystem::permissions(At(name), std::filesystem::perms(0755));
  }
  Fill("closed/in/file", 1);
  ASSERT_EQ(chown(At("closed/in/file").c_str(), kJob, kJob), 0);
  EXPECT_EQ(MeasureDiskUse(kJob, {temporary_.path()}, {}).files, 1);
  std::filesystem::permissions(At("closed"), std::filesystem::perms(0700));
  EXPECT_EQ(MeasureDiskUse(kJob, {temporary_.path()}, {}).files, 0);
}

TEST_F(Disk, NamesThatAreTakenOnPurposeKeepNothing) {
  std::string path = At("deep");
  for (int i = 0; i < 200; ++i) path += "/d";
  std::filesystem::create_directories(path);
  // These folders are in the way of those that are moved.
  for (int i = 0; i < 50; ++i) std::filesystem::create_directories(At(".moved-" + std::to_string(i) + "/full"));
  EmptyFolder(temporary_.path());
  EXPECT_TRUE(std::filesystem::is_empty(temporary_.path()));
}

TEST_F(Disk, ARemovalEndsInTime) {
  Fill("file", 1);
  EmptyFolder(temporary_.path(), 0);
  EXPECT_TRUE(std::filesystem::exists(At("file")));
  EmptyFolder(temporary_.path(), 60);
  EXPECT_TRUE(std::filesystem::is_empty(temporary_.path()));
}

TEST_F(Disk, WhatIsTooMuchIsSaid) {
  EXPECT_TRUE(CheckDiskUse(Use(), {}).ok());
  Fill("file", 1 << 20);
  const DiskLimits few_bytes = {.bytes = 1 << 19};
  EXPECT_TRUE(absl::IsResourceExhausted(CheckDiskUse(Use(few_bytes), few_bytes)));
  for (int i = 0; i < 100; ++i) Fill("file" + std::to_string(i), 0);
  const DiskLimits few_files = {.files = 50};
  EXPECT_TRUE(absl::IsResourceExhausted(CheckDiskUse(Use(few_files), few_files)));
}

TEST_F(Disk, FoldersOfAnyDepthAreFoundAndRemoved) {
  // The paths are too long for any call that takes a whole path.
  const std::string name(200, 'd');
  common::UniqueFd at(open(temporary_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(mkdirat(at.get(), name.c_str(), 0700), 0);
    at = common::UniqueFd(openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  EXPECT_FALSE(Use().is_whole);
  EXPECT_TRUE(absl::IsResourceExhausted(CheckDiskUse(Use(), {})));
  EmptyFolder(temporary_.path());
  EXPECT_TRUE(std::filesystem::is_empty(temporary_.path()));
}

TEST_F(Disk, WhatLiesInFoldersOfOthersIsRemovedToo) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  std::filesystem::create_directories(At("open/deeper/own/more"));
  std::filesystem::create_directories(At("closed"));
  for (const char* name : {"open/own", "open/other", "open/deeper/own/file", "closed/own"}) Fill(name, 1);
  for (const char* name : {"open", "open/deeper"}) chmod(At(name).c_str(), 01777);
  chmod(At("closed").c_str(), 0700);
  for (const char* name : {"open/own", "open/deeper/own", "open/deeper/own/file", "closed/own"}) {
    ASSERT_EQ(chown(At(name).c_str(), kJob, kJob), 0);
  }
  RemoveFilesOf(kJob, temporary_.path());
  EXPECT_FALSE(std::filesystem::exists(At("open/own")));
  EXPECT_FALSE(std::filesystem::exists(At("open/deeper/own")));
  EXPECT_TRUE(std::filesystem::exists(At("open/other"))) << "another user's";
  EXPECT_TRUE(std::filesystem::exists(At("open/deeper")));
  EXPECT_TRUE(std::filesystem::exists(At("closed/own"))) << "the job could not make it there";
}

TEST_F(Disk, ASharedFolderMayItselfBeALink) {
  std::filesystem::create_directories(At("real"));
  std::filesystem::create_directory_symlink(At("real"), At("shared"));
  Fill("real/file", 1);
  const uid_t owner = Owner();
  EXPECT_EQ(MeasureDiskUse(owner, {At("shared")}, {}).files - MeasureDiskUse(owner, {}, {}).files, 1);
  RemoveFilesOf(owner, At("shared"));
  EXPECT_FALSE(std::filesystem::exists(At("real/file")));
}

TEST_F(Disk, WhatALinkLeadsToIsNotRemoved) {
  std::filesystem::create_directories(At("kept"));
  std::filesystem::create_directories(At("job"));
  Fill("kept/file", 1);
  std::filesystem::create_directory_symlink(At("kept"), At("job/link"));
  EmptyFolder(At("job"));
  EXPECT_TRUE(std::filesystem::exists(At("kept/file")));
  EXPECT_TRUE(std::filesystem::is_empty(At("job")));
  RemoveFilesOf(geteuid() + 1, temporary_.path());
  EXPECT_TRUE(std::filesystem::exists(At("kept/file"))) << "another user's";
  RemoveFilesOf(geteuid(), temporary_.path());
  EXPECT_TRUE(std::filesystem::is_empty(temporary_.path()));
}

}  // namespace
}  // namespace rekindle::user_code
