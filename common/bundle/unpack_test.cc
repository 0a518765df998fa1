#include "common/bundle/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/bundle/bundle_writer.h"
#include "common/files/file.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class UnpackTest : public testing::Test {
 protected:
  UnpackTest() {
    BundleWriter writer;
    Add(writer, "a.py", "print()\n", false);
    Add(writer, "b/c/run.sh", "#!/bin/sh\n", true);
    Add(writer, "b/empty", "", false);
    bundle_ = *writer.Finish();
    EXPECT_TRUE(WriteFileAtomic(*PosixFileSystem(), packed_, bundle_.packed).ok());
  }
  ~UnpackTest() override { RemoveUnpacked(folder_).IgnoreError(); }

  static void Add(BundleWriter& writer, const std::string& name, const std::string& content, bool executable) {
    EXPECT_TRUE(writer.Begin({name, executable, static_cast<int64_t>(content.size())}).ok());
    EXPECT_TRUE(writer.Content(content).ok());
  }
  absl::Status Unpack() const { return UnpackBundle(packed_, bundle_.summary.address, folder_); }
  absl::Status Check() const { return CheckUnpacked(packed_, bundle_.summary.address, folder_); }
  mode_t Mode(const std::string& name) const {
    struct stat info = {};
    EXPECT_EQ(stat((folder_ + "/" + name).c_str(), &info), 0) << name;
    return info.st_mode & 0777;
  }
  std::string Content(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryFolder temporary_;
  const std::string packed_ = temporary_.path() + "/packed";
  const std::string folder_ = temporary_.path() + "/folder";
  PackedBundle bundle_;
};

TEST_F(UnpackTest, AllMayReadAndNobodyMayWrite) {
  ASSERT_TRUE(Unpack().ok()) << Unpack();
  EXPECT_EQ(Content("a.py"), "print()\n");
  EXPECT_EQ(Content("b/c/run.sh"), "#!/bin/sh\n");
  EXPECT_EQ(Mode("a.py"), 0444u);
  EXPECT_EQ(Mode("b/c/run.sh"), 0555u);
  for (const char* folder : {"", "b", "b/c"}) EXPECT_EQ(Mode(folder), 0555u) << folder;
  EXPECT_TRUE(Check().ok()) << Check();
  ASSERT_TRUE(Unpack().ok()) << "a folder that is there is replaced";
  ASSERT_TRUE(RemoveUnpacked(folder_).ok());
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_TRUE(RemoveUnpacked(folder_).ok());
}

TEST_F(UnpackTest, ADamagedBundleLeavesNothing) {
  std::string damaged = bundle_.packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  ASSERT_TRUE(WriteFileAtomic(*PosixFileSystem(), packed_, damaged).ok());
  EXPECT_TRUE(absl::IsDataLoss(Unpack())) << Unpack();
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_FALSE(fs::exists(folder_ + ".new"));
  ASSERT_TRUE(WriteFileAtomic(*PosixFileSystem(), packed_, bundle_.packed).ok());
  EXPECT_TRUE(absl::IsDataLoss(UnpackBundle(packed_, std::string(64, 'a'), folder_)));
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(UnpackTest, AnyChangeOfTheFolderIsFound) {
  const auto changed = [&](const std::string& name, const std::string& content) {
    EXPECT_TRUE(Unpack().ok());
    chmod(folder_.c_str(), 0700);
    chmod((folder_ + "/" + name).c_str(), 0600);
    std::ofstream(folder_ + "/" + name) << content;
    chmod((folder_ + "/" + name).c_str(), 0444);
    return std::string(Check().message());
  };
  EXPECT_THAT(changed("a.py", "other()\n"), HasSubstr("a.py has other content"));
  EXPECT_THAT(changed("a.py", "longer text\n"), HasSubstr("a.py has another size"));
  EXPECT_THAT(changed("torch.py", "evil"), HasSubstr("torch.py does not belong there"));
  ASSERT_TRUE(Unpack().ok());
  chmod(folder_.c_str(), 0700);
  fs::remove(folder_ + "/a.py");
  EXPECT_THAT(std::string(Check().message()), HasSubstr("a.py is missing"));
  ASSERT_TRUE(Unpack().ok());
  chmod(folder_.c_str(), 0700);
  fs::create_directory(folder_ + "/__pycache__");
  std::ofstream(folder_ + "/__pycache__/a.pyc") << "x";
  EXPECT_TRUE(Check().ok()) << Check();
}

}  // namespace
}  // namespace rekindle::common
