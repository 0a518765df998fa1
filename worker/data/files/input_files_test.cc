#include "worker/data/files/input_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/testing/temporary_folder_testing.h"
#include "common/time/clock.h"

namespace rekindle::data {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class TextFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }

  // Returns the paths of the files that the entries match, below `root_`.
  std::vector<std::string> Find(const std::vector<std::string>& entries) {
    std::vector<std::string> absolute;
    for (const std::string& entry : entries) absolute.push_back(root_ + "/" + entry);
    auto files = FindInputFiles(absolute);
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> names;
    if (files.ok()) {
      for (const InputFile& file : *files) names.push_back(fs::relative(file.path, root_).string());
    }
    return names;
  }

  absl::Status Error(const std::string& entry) { return FindInputFiles({root_ + "/" + entry}).status(); }

  using Names = std::vector<std::string>;
  common::TemporaryFolder temporary_;
  const std::string root_ = temporary_.path();
};

TEST_F(TextFilesTest, FilesAreSortedAndOnce) {
  Write("b.txt", "b");
  Write("a.txt", "a");
  EXPECT_EQ(Find({"b.txt", "a.txt", "./b.txt", "*.txt"}), (Names{"a.txt", "b.txt"}));
}

TEST_F(TextFilesTest, StarStaysInOneFolder) {
  Write("a.h", "1");
  Write("x/b.h", "2");
  Write("x/y/c.h", "3");
  Write("x/y/c.cc", "4");
  Write("x/.hidden.h", "5");
  EXPECT_EQ(Find({"*.h"}), (Names{"a.h"}));
  EXPECT_EQ(Find({"*/*.h"}), (Names{"x/b.h"}));
  EXPECT_EQ(Find({"x/[bc].h"}), (Names{"x/b.h"}));
  EXPECT_EQ(Find({"x/.*.h"}), (Names{"x/.hidden.h"}));
  EXPECT_EQ(Find({"?/y/c.h"}), (Names{"x/y/c.h"}));
}

TEST_F(TextFilesTest, DoubleStarMatchesAnyDepth) {
  Write("a.h", "1");
  Write("x/b.h", "2");
  Write("x/y/c.h", "3");
  Write("x/y/c.cc", "4");
  Write(".git/d.h", "5");
  EXPECT_EQ(Find({"**/*.h"}), (Names{"a.h", "x/b.h", "x/y/c.h"}));
  EXPECT_EQ(Find({"x/**"}), (Names{"x/b.h", "x/y/c.cc", "x/y/c.h"}));
  EXPECT_EQ(Find({"**/y/*.h"}), (Names{"x/y/c.h"}));
  EXPECT_EQ(Find({"**/**/b.h"}), (Names{"x/b.h"}));
}

TEST_F(TextFilesTest, DoubleStarDoesNotRunInCircles) {
  Write("x/b.h", "2");
  fs::create_directory_symlink("..", root_ + "/x/up");
  fs::create_symlink("nowhere", root_ + "/x/dangling.h");
  EXPECT_EQ(Find({"**/*.h"}), (Names{"x/b.h"}));
}

TEST_F(TextFilesTest, AHundredDoubleStarsCostNoMoreThanOne) {
  std::string deep, stars, apart;
  for (int i = 0; i < 4; ++i) deep += "d/";
  for (int i = 0; i < 100; ++i) stars += "**/";
  for (int i = 0; i < 60; ++i) apart += i % 2 == 0 ? "**/" : "d*/";
  Write(deep + "a.h", "1");
  Write("b.h", "2");
  const double before = common::SteadySeconds();
  EXPECT_EQ(Find({stars + "*.h"}), (Names{"b.h", deep + "a.h"}));
  EXPECT_EQ(Error(apart + "*.h").code(), absl::StatusCode::kNotFound) << "thirty folders deep there is nothing";
  EXPECT_LT(common::SteadySeconds() - before, 5) << "seconds";
}

TEST_F(TextFilesTest, ADeepFolderNeedsFewDescriptors) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "d/";
  Write(deep + "a.h", "1");
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(Find({"**/*.h"}), (Names{deep + "a.h"}));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(TextFilesTest, GlobsThatLeadToMoreThanAnyDiskHasAreGivenUp) {
  Write("a.h", "1");
  fs::create_directory_symlink(".", root_ + "/x");
  fs::create_directory_symlink(".", root_ + "/y");
  std::string circles = root_ + "/";
  for (int i = 0; i < 35; ++i) circles += "*/";
  const auto given_up = [&](const SearchLimits& limits) {
    const auto files = FindInputFiles({circles + "*.h"}, DataRoots(), limits);
    EXPECT_EQ(files.status().code(), absl::StatusCode::kResourceExhausted);
    return std::string(files.status().message());
  };
  EXPECT_THAT(given_up({.folders = 1000}), HasSubstr("lead to over 1000 folders; use fewer `**`"));
  EXPECT_THAT(given_up({.names = 1000}), HasSubstr("lead to over 1000 names; use fewer `**`"));
  EXPECT_THAT(given_up({.seconds = 0.1}), HasSubstr("after 0.1 s and "));
}

TEST_F(TextFilesTest, ANameWithAStarIsAFile) {
  Write("a*.txt", "1");
  Write("ab.txt", "2");
  EXPECT_EQ(Find({"a*.txt"}), (Names{"a*.txt"}));
}

TEST_F(TextFilesTest, EmptyFilesAmongOthersAreHarmless) {
  Write("a.h", "");
  Write("b.h", "text");
  EXPECT_EQ(Find({"*.h"}), (Names{"a.h", "b.h"}));
}

TEST_F(TextFilesTest, SizeIsThatOfTheFile) {
  Write("a.txt", "four");
  auto files = FindInputFiles({root_ + "/a.txt"});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->front().size, 4);
  EXPECT_GT(files->front().modified_ns, 0);
}

TEST_F(TextFilesTest, ErrorsNameWhatIsWrong) {
  Write("empty.txt", "");
  Write("full.txt", "x");
  fs::create_symlink("loop.txt", root_ + "/loop.txt");
  fs::create_symlink("nowhere", root_ + "/dangling.txt");

  EXPECT_EQ(FindInputFiles({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FindInputFiles({""}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Error("missing.txt").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Error("missing.txt").message()), HasSubstr(root_ + "/missing.txt does not exist"));
  EXPECT_EQ(Error("dangling.txt").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Error("*.md").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Error("*.md").message()), HasSubstr("no file matches " + root_ + "/*.md"));
  EXPECT_EQ(Error("no/such/**/*.h").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(Error("empty.txt").message()), HasSubstr("empty.txt is empty"));
  EXPECT_THAT(std::string(Error("empty*").message()), HasSubstr("all 1 files are empty"));
  EXPECT_THAT(std::string(Error("").message()), HasSubstr("is a folder"));
  EXPECT_THAT(std::string(Error("loop.txt").message()), HasSubstr("Too many levels of symbolic links"));
  EXPECT_THAT(std::string(Error("l*.txt").message()), HasSubstr("loop.txt: Too many levels of symbolic links"));
  EXPECT_THAT(std::string(FindInputFiles({"/dev/null"}).status().message()), HasSubstr("no regular file"));
}

TEST_F(TextFilesTest, AnUnreadableFileIsAnErrorEvenInAGlob) {
  Write("a.txt", "x");
  fs::permissions(root_ + "/a.txt", fs::perms::none);
  fs::permissions(root_, fs::perms::others_read | fs::perms::others_exec, fs::perm_options::add);
  // The superuser may read everything, so the child process tries as another user.
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (getuid() == 0 && setuid(kNobody) != 0) _exit(2);
    bool refused = Error("a.txt").code() == absl::StatusCode::kPermissionDenied &&
                   Error("*.txt").code() == absl::StatusCode::kPermissionDenied;
    _exit(refused ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace rekindle::data
