#include "worker/data/files/data_roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/files/state_folder.h"
#include "common/testing/temporary_folder_testing.h"
#include "worker/data/files/input_files.h"
#include "worker/data/files/rooted_files.h"

namespace rekindle::data {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DataRootsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("data/a.txt", "a");
    Write("data/deep/b.txt", "b");
    Write("secret/key", "the key");
    // The name of the folder "database" begins like that of the root "data", but it is not in the root.
    Write("database/c.txt", "c");
  }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(At(path)).parent_path());
    std::ofstream(At(path)) << text;
  }
  void Link(const std::string& to, const std::string& path) { fs::create_symlink(to, At(path)); }
  std::string At(const std::string& path) const { return root_ + "/" + path; }
  DataRoots Roots() const { return DataRoots({At("data")}, {}); }
  static std::string Read(const DataRoots& roots, const std::string& path) {
    const auto file = roots.Open(path);
    if (!file.ok()) return absl::StrCat(absl::StatusCodeToString(file.status().code()));
    char text[64];
    return std::string(text, static_cast<size_t>(read(file->get(), text, sizeof text)));
  }
  // Returns the files that a glob finds, as paths relative to the test's folder, or the error.
  std::vector<std::string> Glob(const DataRoots& roots, const std::string& pattern) {
    const auto files = FindInputFiles({pattern}, roots);
    if (!files.ok()) return {std::string(files.status().message())};
    std::vector<std::string> names;
    for (const InputFile& file : *files) names.push_back(fs::path(file.path).lexically_relative(root_));
    return names;
  }

  using Names = std::vector<std::string>;
  common::TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(DataRootsTest, WhatIsInARootIsReadAndNothingElse) {
  EXPECT_EQ(Read(Roots(), At("data/a.txt")), "a");
  EXPECT_EQ(Read(Roots(), At("data/../data/./deep/b.txt")), "b");
  for (const char* outside :
       {"secret/key", "database/c.txt", "data/../secret/key", "secret/none", "", "data/a.txt/../../secret/key"}) {
    EXPECT_EQ(Read(Roots(), At(outside)), "PERMISSION_DENIED") << outside;
  }
  EXPECT_EQ(Read(Roots(), "/etc/passwd"), "PERMISSION_DENIED");
  EXPECT_EQ(Read(Roots(), "data/a.txt"), "PERMISSION_DENIED") << "not absolute";
  EXPECT_EQ(Read(Roots(), At("data/none")), "NOT_FOUND");
  EXPECT_EQ(Read(Roots(), At("data/deep")), "INVALID_ARGUMENT");
  EXPECT_EQ(Read(DataRoots({}, {}), At("data/a.txt")), "PERMISSION_DENIED") << "nothing is listed";
  const absl::Status why = Roots().CheckName(At("secret/key"));
  EXPECT_THAT(std::string(why.message()),
              AllOf(HasSubstr(At("secret/key")), HasSubstr(At("data")), HasSubstr("--data-root")));
}

TEST_F(DataRootsTest, LinksCountByWhereTheyLead) {
  Link("../a.txt", "data/deep/inside");
  Link(At("data/deep/b.txt"), "data/whole");
  Link(At("secret/key"), "data/out");
  Link("../secret", "data/folder");
  Link("../none", "data/nowhere");
  Link("out", "data/chain");
  EXPECT_EQ(Read(Roots(), At("data/deep/inside")), "a");
  EXPECT_EQ(Read(Roots(), At("data/whole")), "b");
  // For a link that leads out of the roots, the answer is the same whether its target exists or not, so it reveals
  // nothing about files outside the roots.
  for (const char* out : {"data/out", "data/chain", "data/folder/key", "data/folder/none", "data/nowhere"}) {
    const absl::Status status = Roots().Open(At(out)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << out;
    EXPECT_THAT(std::string(status.message()), HasSubstr("leads nowhere")) << out;
  }
}

TEST_F(DataRootsTest, ARootMayBeALinkItself) {
  Link("data", "alias");
  const DataRoots roots({At("alias")}, {});
  EXPECT_EQ(Read(roots, At("alias/a.txt")), "a");
  EXPECT_EQ(Read(roots, At("data/a.txt")), "a");
  EXPECT_THAT(std::string(roots.Open(At("alias/none")).status().message()), HasSubstr("does not exist"));
  EXPECT_EQ(Read(roots, At("secret/key")), "PERMISSION_DENIED");
}

TEST_F(DataRootsTest, GlobsStayInTheRoots) {
  Link(At("secret/key"), "data/out.txt");
  Link("../secret", "data/folder");
  Link("deep", "data/same");
  EXPECT_EQ(Glob(Roots(), At("data/*.txt")), (Names{"data/a.txt"}));
  EXPECT_EQ(Glob(Roots(), At("data/**")), (Names{"data/a.txt", "data/deep/b.txt"}));
  EXPECT_EQ(Glob(Roots(), At("data/*/*")), (Names{"data/deep/b.txt", "data/same/b.txt"}));
  for (const char* pattern : {"secret/*", "*/key", "**/key", "data/../secret/*", "dat*/a.txt"}) {
    EXPECT_THAT(Glob(Roots(), At(pattern)).at(0), HasSubstr("is outside of what jobs may read")) << pattern;
  }
  EXPECT_THAT(Glob(Roots(), At("data/folder/*")).at(0), HasSubstr("no file matches"));
}

TEST_F(DataRootsTest, WhatIsWithheldIsReadUnderNoName) {
  Link("../secret/key", "data/link");
  fs::create_hard_link(At("secret/key"), At("data/other"));
  const DataRoots roots({"/"}, {"", At("secret/key"), At("not/there")});
  for (const char* name : {"secret/key", "data/link", "data/other"}) {
    EXPECT_EQ(Read(roots, At(name)), "PERMISSION_DENIED") << name;
    EXPECT_THAT(std::string(FindInputFiles({At(name)}, roots).status().message()), HasSubstr("Rekindle's own")) << name;
  }
  EXPECT_EQ(Glob(roots, At("data/*")), (Names{"data/a.txt"}));
  EXPECT_THAT(Glob(roots, At("secret/*")).at(0), HasSubstr("Rekindle's own"));
  Write("secret/key.new", "the next key");
  fs::rename(At("secret/key.new"), At("secret/key"));
  EXPECT_EQ(Read(roots, At("secret/key")), "PERMISSION_DENIED") << "one that was replaced";
}

TEST_F(DataRootsTest, StateFoldersAreReadByNoJob) {
  Write("node/jobs/1.pb", "a secret");
  ASSERT_TRUE(common::MarkStateFolder(At("node")).ok());
  Link("../node/jobs", "data/jobs");
  const DataRoots roots({"/"}, {});
  for (const char* path : {"node/jobs/1.pb", "node/.rekindle-state", "data/jobs/1.pb"}) {
    EXPECT_EQ(Read(roots, At(path)), "PERMISSION_DENIED") << path;
  }
  EXPECT_THAT(Glob(roots, At("node/**")).at(0), HasSubstr("Rekindle's own"));
  EXPECT_EQ(Glob(roots, At("*/*.txt")), (Names{"data/a.txt", "database/c.txt"}));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(At("node/.rekindle-state").c_str(), 65534, 65534), 0);
  EXPECT_EQ(Read(roots, At("node/jobs/1.pb")), "a secret") << "others' marks keep nobody from their data";
}

TEST_F(DataRootsTest, AFileThatIsSwappedAfterItWasFoundIsNotRead) {
  const auto files = FindInputFiles({At("data/a.txt")}, Roots());
  ASSERT_TRUE(files.ok()) << files.status();
  fs::remove(At("data/a.txt"));
  Link("../secret/key", "data/a.txt");
  EXPECT_EQ(Roots().Open(files->front().path).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(DataRootsTest, RootsAreAbsolute) {
  EXPECT_TRUE(DataRoots::CheckRoots({"/data", "/"}).ok());
  EXPECT_THAT(std::string(DataRoots::CheckRoots({"/data", "data"}).message()), HasSubstr("'data' is not absolute"));
  EXPECT_FALSE(DataRoots::CheckRoots({""}).ok());
}

TEST_F(DataRootsTest, RootedFilesOpenAndLookAtThem) {
  RootedFiles files(Roots());
  const auto file = files.Open(At("data/deep/b.txt"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->Size().value_or(-1), 1);
  EXPECT_TRUE(files.Stat(At("data/deep"))->is_folder);
  EXPECT_EQ(files.Stat(At("data/a.txt"))->size, 1);
  EXPECT_EQ(files.Open(At("secret/key")).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(files.Stat(At("secret/key")).status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(files.Remove(At("data/a.txt")).code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace rekindle::data
