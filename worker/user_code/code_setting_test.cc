#include "worker/user_code/code_setting.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/user_code/testing/confined_testing.h"

namespace rekindle::user_code {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Isolation, NamesAreThoseThatNodesShow) {
  EXPECT_EQ(NameOf(Isolation::kUidAndLandlock), "uid+landlock");
  for (const Isolation each : {Isolation::kNone, Isolation::kUid, Isolation::kUidAndLandlock}) {
    EXPECT_EQ(IsolationOf(NameOf(each)), each);
  }
  EXPECT_EQ(IsolationOf("other"), std::nullopt);
}

TEST(InterpreterFolders, AVirtualEnvironmentNeedsItsMakerToo) {
  common::TemporaryFolder temporary;
  const std::string root = temporary.path();
  for (const char* folder : {"/python/bin", "/venv/bin"}) std::filesystem::create_directories(root + folder);
  std::ofstream(root + "/python/bin/python3.12") << "";
  std::filesystem::create_symlink("python3.12", root + "/python/bin/python3");
  std::filesystem::create_symlink(root + "/python/bin/python3", root + "/venv/bin/python");
  std::ofstream(root + "/venv/pyvenv.cfg") << "home = " << root << "/other/bin\nversion = 3.12\n";
  const std::vector<std::string> folders = InterpreterFolders(root + "/venv/bin/python");
  for (const char* folder : {"/venv/lib", "/venv/pyvenv.cfg", "/python/lib", "/python/bin", "/other/lib"}) {
    EXPECT_THAT(folders, Contains(root + folder));
  }
  EXPECT_THAT(folders, Not(Contains(root + "/venv"))) << "what else is there is not the interpreter's";
}

class Reach : public ConfinedTest {
 protected:
  Isolation Probe(const std::string& interpreter, std::string* why) const {
    return ProbeIsolation(root_ + "/code", {uid_, uid_ + 9}, interpreter, why, Isolation::kUidAndLandlock,
                          {.claims = root_ + "/claims"});
  }
};
INSTANTIATE_TEST_SUITE_P(Isolations, Reach, ::testing::Values(Isolation::kUidAndLandlock));

TEST_P(Reach, WhatTheJobsUserCannotReachIsNamedWithTheFix) {
  CodeSetting closed = job_;
  closed.task_folder = root_ + "/closed/task";
  std::filesystem::create_directories(closed.task_folder);
  chmod((root_ + "/closed").c_str(), 0700);
  const absl::Status refused = Confine(closed, {}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr(closed.task_folder + ": "));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("chmod o+rX"));
  chmod((root_ + "/closed").c_str(), 0711);
  EXPECT_TRUE(Confine(closed, {}).ok());
}

TEST_P(Reach, TheStrongestIsolationThatWorksIsFound) {
  std::string why;
  EXPECT_EQ(Probe(kPython, &why), Isolation::kUidAndLandlock) << why;
  EXPECT_EQ(why, "");
  EXPECT_EQ(Probe(root_ + "/secret/python", &why), Isolation::kNone);
  EXPECT_THAT(why, HasSubstr(root_ + "/secret/python"));
  chmod(root_.c_str(), 0700);
  EXPECT_EQ(Probe(kPython, &why), Isolation::kNone) << "its folder is closed";
  for (const auto& entry : std::filesystem::directory_iterator(root_ + "/code")) {
    EXPECT_THAT(entry.path().string(), Not(HasSubstr("probe"))) << "nothing is left behind";
  }
}

TEST_P(Reach, AProbeHasAnIdThatNoJobHas) {
  const UidPlaces places = {.claims = root_ + "/claims"};
  const UidRange only = {uid_, uid_};
  std::string why;
  ASSERT_EQ(*TakeUid(only, "job", job_.folder, places), uid_);
  EXPECT_EQ(ProbeIsolation(root_ + "/code", only, kPython, &why, Isolation::kUidAndLandlock, places), Isolation::kNone);
  EXPECT_THAT(why, HasSubstr("are taken"));
  RemoveCodeFolder(job_.folder);
  EXPECT_EQ(ProbeIsolation(root_ + "/code", only, kPython, &why, Isolation::kUidAndLandlock, places),
            Isolation::kUidAndLandlock)
      << why;
  EXPECT_EQ(*TakeUid(only, "other", other_.folder, places), uid_) << "the probe has given its id back";
}

TEST_P(Reach, WhereNoIdCanBeTakenTheReasonIsSaid) {
  std::string why;
  EXPECT_EQ(ProbeIsolation(root_ + "/code", {uid_, uid_}, kPython, &why, Isolation::kUidAndLandlock,
                           {.claims = root_ + "/none/claims"}),
            Isolation::kNone);
  EXPECT_THAT(why, HasSubstr(root_ + "/none/claims"));
}

TEST_P(Reach, APackageThatTheJobsUserCannotReadIsNamed) {
  const std::vector<std::string> own = {"PYTHONPATH=" + root_ + "/closed:" + root_ + "/more"};
  std::filesystem::create_directories(root_ + "/closed/rekindle");
  EXPECT_TRUE(Confine(job_, own).ok()) << "a folder without the package is not needed";
  Write(root_ + "/closed/rekindle/__init__.py", "", 0644);
  chmod((root_ + "/closed").c_str(), 0700);
  EXPECT_THAT(std::string(Confine(job_, own).status().message()), HasSubstr(root_ + "/closed/rekindle: "));
}

TEST_P(Reach, AnInterpreterThatAJobNamesOpensNoOtherFolder) {
  CodeSetting odd = job_;
  odd.interpreter = root_ + "/data/venv/bin/python3";
  std::filesystem::create_directories(root_ + "/data/venv/bin");
  std::filesystem::create_symlink(kPython, odd.interpreter);
  std::filesystem::create_directory_symlink("/", root_ + "/data/venv/lib");
  std::filesystem::create_directory_symlink(root_ + "/secret", root_ + "/data/venv/share");
  for (const char* folder : {"/data/venv", "/data/venv/bin"}) chmod((root_ + folder).c_str(), 0755);
  const std::string ran = Run("open('" + root_ + "/secret/open')", odd);
  EXPECT_THAT(ran, HasSubstr("PermissionError"));
}

TEST_P(Reach, WithoutIsolationNothingIsConfined) {
  CodeSetting open = job_;
  open.isolation = Isolation::kNone;
  const auto confinement = Confine(open, {});
  ASSERT_TRUE(confinement.ok());
  EXPECT_EQ(*confinement, nullptr);
  EXPECT_THAT(EnvironmentOf(open, {"HOME=/home/ada"}, {}, {}), Contains("HOME=/home/ada"));
  EXPECT_THAT(EnvironmentOf(job_, {"HOME=/root"}, {}, {}), Contains("HOME=" + ScratchOf(job_.folder)));
}

}  // namespace
}  // namespace rekindle::user_code
