#include "worker/user_code/code_uids.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/testing/temporary_folder_testing.h"
#include "worker/user_code/confinement.h"

namespace rekindle::user_code {
namespace {

using ::testing::HasSubstr;

TEST(UidRange, ItIsParsedAndKeepsAwayFromIdsInUse) {
  EXPECT_EQ(*ParseUidRange("4200000000-4200065535"), UidRange());
  EXPECT_EQ(*ParseUidRange("3000000000-3000000000"), (UidRange{3'000'000'000, 3'000'000'000}));
  for (const char* text : {"", "1-2", "1000-4200000000", "4200000001-4200000000", "4200000000", "4200000000-4294967295",
                           "-1-5", "a-b", "4200000000-4200000001-4200000002"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseUidRange(text).status())) << text;
  }
  EXPECT_GE(UidRange().first, kLeastUid);
}

class Machine : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"/etc", "/proc/self", "/proc/17", "/owners"}) {
      std::filesystem::create_directories(temporary_.path() + folder);
    }
    for (const char* map : {"/proc/self/uid_map", "/proc/self/gid_map"}) Write(map, "0 0 4294967295\n");
    Write("/proc/17/status", "Name:\tx\nUid:\t0\t0\t0\t0\n");
    for (const char* file : {"/etc/passwd", "/etc/group", "/etc/subuid", "/etc/subgid"}) Write(file, "");
  }
  void Write(const std::string& path, const std::string& text) { std::ofstream(temporary_.path() + path) << text; }
  std::string Owner(const std::string& name) {
    const std::string path = temporary_.path() + "/owners/" + name;
    std::filesystem::create_directories(path);
    return path;
  }
  std::string Problem() { return std::string(CheckUidRange(range_, places_).message()); }

  common::TemporaryFolder temporary_;
  const UidRange range_ = {4'200'000'000, 4'200'000'003};
  const UidPlaces places_ = {
      .etc = temporary_.path() + "/etc", .proc = temporary_.path() + "/proc", .claims = temporary_.path() + "/claims"};
};

TEST_F(Machine, IdsThatOthersHaveAreNamed) {
  EXPECT_EQ(Problem(), "");
  Write("/etc/passwd", "root:x:0:0::/:/bin/sh\nada:x:4200000002:100::/:/bin/sh\n");
  EXPECT_THAT(Problem(), HasSubstr("that of ada in"));
  Write("/etc/passwd", "");
  Write("/etc/subgid", "# nothing\nbob:4199999000:1001\n");
  EXPECT_THAT(Problem(), HasSubstr("those of bob in"));
  Write("/etc/subgid", "bob:4199999000:1000\n");
  EXPECT_EQ(Problem(), "") << "the range ends right before";
}

TEST_F(Machine, AContainerWithoutTheIdsIsNamed) {
  Write("/proc/self/uid_map", "         0     100000      65536\n");
  EXPECT_THAT(Problem(), HasSubstr("do not exist in this container"));
}

TEST_F(Machine, EachFolderHasAnIdOfItsOwnAndKeepsIt) {
  std::set<uid_t> ids;
  for (const char* name : {"a", "b", "c", "d"}) ids.insert(*TakeUid(range_, name, Owner(name), places_));
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_TRUE(absl::IsResourceExhausted(TakeUid(range_, "e", Owner("e"), places_).status()));
  const uid_t before = *TakeUid(range_, "a", Owner("a"), places_);
  EXPECT_TRUE(ids.contains(before));
  // The id of a folder that was removed is free.
  std::filesystem::remove(Owner("c"));
  EXPECT_TRUE(TakeUid(range_, "e", Owner("e"), places_).ok());
}

TEST_F(Machine, AnIdThatAProcessHasIsNotTaken) {
  const uid_t first = *TakeUid(range_, "a", Owner("a"), places_);
  std::filesystem::remove(Owner("a"));
  Write("/proc/17/status", "Name:\tx\nUid:\t" + std::to_string(first) + "\t0\t0\t0\n");
  EXPECT_NE(*TakeUid(range_, "a", Owner("b"), places_), first);
}

}  // namespace
}  // namespace rekindle::user_code
