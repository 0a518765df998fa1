#include "common/bundle/pack_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"

namespace rekindle::common {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class PackFolderTest : public testing::Test {
 protected:
  PackFolderTest() { fs::create_directory(root_); }

  void Write(const std::string& name, const std::string& content = "x") const {
    const fs::path path = fs::path(root_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }
  std::vector<std::string> Names() const {
    const auto packed = PackFolder(root_);
    EXPECT_TRUE(packed.ok()) << packed.status();
    std::vector<std::string> names;
    if (packed.ok()) {
      for (const BundleEntry& entry : packed->found.files) names.push_back(entry.name);
    }
    return names;
  }
  std::string Error() const { return std::string(PackFolder(root_).status().message()); }

  const TemporaryFolder folder_;
  const std::string root_ = folder_.path() + "/project";
};

TEST_F(PackFolderTest, TheSameFilesMakeTheSameAddress) {
  Write("train.py", "1");
  Write("lib/a.py", "2");
  const auto first = PackFolder(root_);
  ASSERT_TRUE(first.ok()) << first.status();
  fs::rename(root_, folder_.path() + "/other");
  fs::last_write_time(folder_.path() + "/other/train.py", fs::file_time_type());
  const auto second = PackFolder(folder_.path() + "/other");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(first->bundle.summary.address, second->bundle.summary.address);
  EXPECT_EQ(first->bundle.summary.files, 2);
  EXPECT_EQ(first->bundle.summary.bytes, 2);
  ASSERT_EQ(chmod((folder_.path() + "/other/train.py").c_str(), 0755), 0);
  EXPECT_NE(PackFolder(folder_.path() + "/other")->bundle.summary.address, first->bundle.summary.address);
}

TEST_F(PackFolderTest, IgnoreFilesAreFollowedAndTheOwnOneWins) {
  Write(".gitignore", "*.log\ndata/\n!important.log\n");
  Write("lib/.gitignore", "local.py\n");
  Write(".rekindleignore", "!data/\nnotes/\nimportant.log\n");
  for (const char* name : {"a.log", "important.log", "data/x", "notes/y", "lib/local.py", "lib/b.py", "local.py"}) {
    Write(name);
  }
  EXPECT_THAT(Names(),
              ElementsAre(".gitignore", ".rekindleignore", "data/x", "lib/.gitignore", "lib/b.py", "local.py"));
}

TEST_F(PackFolderTest, RulesOfTheRepositoryAboveAreFollowed) {
  fs::create_directory(folder_.path() + "/.git");
  std::ofstream(folder_.path() + "/.gitignore") << "/project/out\n*.tmp\n/out2\n";
  for (const char* name : {"a.py", "out/x", "b.tmp", "out2/y"}) Write(name);
  EXPECT_THAT(Names(), ElementsAre("a.py", "out2/y"));
}

TEST_F(PackFolderTest, KeysAndHistoryAreNeverSentWhateverARuleSays) {
  Write(".rekindleignore", "!.env\n!.git\n!id_rsa\n");
  for (const char* name :
       {".env", ".git/config", "id_rsa", "sub/server.pem", "sub/.aws/credentials", "a.py", "__pycache__/a.pyc",
        "state/.rekindle-state", "state/secret", "env/pyvenv.cfg", "env/lib/x"}) {
    Write(name);
  }
  const auto packed = PackFolder(root_);
  ASSERT_TRUE(packed.ok()) << packed.status();
  EXPECT_THAT(Names(), ElementsAre(".rekindleignore", "a.py"));
  EXPECT_THAT(packed->found.withheld, ElementsAre(".env", ".git/", "id_rsa", "state/", "sub/.aws/", "sub/server.pem"));
}

TEST_F(PackFolderTest, LinksOutAndNoFilesAreRefusedByName) {
  Write("a.py");
  std::ofstream(folder_.path() + "/outside") << "secret";
  fs::create_symlink(folder_.path() + "/outside", root_ + "/link");
  EXPECT_THAT(Error(), HasSubstr("project/link is a link that leads out of the folder: move it"));
  fs::remove(root_ + "/link");
  fs::create_symlink("nothing", root_ + "/link");
  EXPECT_THAT(Error(), HasSubstr("leads nowhere"));
  fs::remove(root_ + "/link");
  Write("sub/b.py");
  fs::create_symlink("sub", root_ + "/link");
  EXPECT_THAT(Error(), HasSubstr("is a link to a folder"));
  fs::remove(root_ + "/link");
  Write(".env");
  fs::create_symlink(".env", root_ + "/link");
  EXPECT_THAT(Error(), HasSubstr("is a link to what is never sent"));
  fs::remove(root_ + "/link");
  Write("state/.rekindle-state");
  Write("state/secret");
  fs::create_symlink("state/secret", root_ + "/link");
  EXPECT_THAT(Error(), HasSubstr("is a link to what is never sent"));
  fs::remove(root_ + "/link");
  ASSERT_EQ(mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  EXPECT_THAT(Error(), HasSubstr("project/pipe is neither a file nor a folder"));
  Write(".rekindleignore", "pipe\n");
  fs::create_symlink("sub/b.py", root_ + "/link.py");
  EXPECT_THAT(Names(), ElementsAre(".rekindleignore", "a.py", "link.py", "sub/b.py"));
}

TEST_F(PackFolderTest, TooMuchNamesWhatIsLarge) {
  EXPECT_THAT(Error(), HasSubstr("has no file that is sent"));
  Write("a.py");
  Write("weights/model.bin");
  fs::resize_file(root_ + "/weights/model.bin", kMaxBundleBytes + 1);
  EXPECT_THAT(Error(), HasSubstr("2 files of 256.0 MB, and at most 10000 files of 256.0 MB are sent. The largest are "
                                 "weights/ (1 files, 256.0 MB), a.py"));
  EXPECT_THAT(Error(), HasSubstr(".rekindleignore"));
  fs::remove(root_ + "/weights/model.bin");
  for (int i = 0; i <= kMaxBundleFiles; ++i) Write(absl::StrCat("many/", i), "");
  EXPECT_THAT(Error(), HasSubstr("has 10002 files"));
}

}  // namespace
}  // namespace rekindle::common
