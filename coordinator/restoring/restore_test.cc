// Tests that restoring a backup makes a whole data folder or none.
#include "coordinator/restoring/restore.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/folder/data_folder.h"
#include "coordinator/folder/new_data_folder.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/database_copy.h"
#include "coordinator/store/sqlite_store.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::set<std::string> Names(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

unsigned ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

class RestoreTest : public testing::Test {
 protected:
  void SetUp() override {
    data_ = folder_ + "/a/b";
    MakeSource();
    WriteBackup(header_, content_);
  }

  void MakeSource() {
    auto store = SqliteStore::Open(folder_ + "/source.db");
    ASSERT_TRUE(store.ok()) << store.status();
    header_.identity = ReadOrMakeCluster(store->get())->identity;
    for (int i = 0; i < 3; ++i) {
      v1::JobRecord record;
      record.mutable_job()->set_uid(absl::StrCat("uid", i));
      record.mutable_job()->mutable_status()->set_state(i == 0 ? v1::SUCCEEDED : v1::RUNNING);
      ASSERT_TRUE((*store)->Put(absl::StrCat("job/uid", i), record.SerializeAsString()).ok());
    }
    ASSERT_TRUE((*store)->Put("large", std::string(1 << 20, 'x')).ok());
    const auto copy = CopyDatabase(folder_ + "/source.db", folder_ + "/copy", {});
    ASSERT_TRUE(copy.ok()) << copy.status();
    content_.resize(static_cast<size_t>(copy->bytes));
    ASSERT_EQ(pread(copy->file.get(), content_.data(), content_.size(), 0), copy->bytes);
    header_.taken_at = 1'700'000'000;
    header_.release = "0.1.0";
    header_.schema = copy->schema;
    header_.needs_release = copy->needs_release;
  }

  void WriteBackup(BackupHeader header, const std::string& content) {
    header.bytes = static_cast<int64_t>(content.size());
    header.xxh3_128 = common::Xxh3_128Hex(content);
    WriteFile(BackupPreamble(header) + content);
  }
  void WriteFile(const std::string& content) { std::ofstream(file_(), std::ios::trunc) << content; }
  std::string file_() const { return folder_ + "/backup"; }

  std::string Refusal() {
    const auto restored = RestoreBackup(file_(), data_);
    EXPECT_FALSE(restored.ok());
    return std::string(restored.status().message());
  }

  void ExpectRestored(int epoch = 2) {
    const auto restored = RestoreBackup(file_(), data_);
    ASSERT_TRUE(restored.ok()) << restored.status();
    EXPECT_EQ(restored->data, data_);
    EXPECT_EQ(restored->backup.identity, header_.identity);
    EXPECT_EQ(restored->backup.taken_at, 1'700'000'000);
    EXPECT_EQ(restored->identity.cluster, header_.identity.cluster);
    EXPECT_EQ(restored->identity.epoch, epoch);
    EXPECT_THAT(restored->jobs, ElementsAre(Pair(v1::RUNNING, 2), Pair(v1::SUCCEEDED, 1)));
    EXPECT_EQ(ModeOf(data_), 0700u);
    EXPECT_EQ(ModeOf(data_ + "/state.db"), 0600u);
    EXPECT_TRUE(CheckComplete(data_).ok());

    const auto store = SqliteStore::Open(data_ + "/state.db");
    ASSERT_TRUE(store.ok()) << store.status();
    const auto record = ReadOrMakeCluster(store->get());
    ASSERT_TRUE(record.ok());
    EXPECT_EQ(record->identity, restored->identity);
    EXPECT_TRUE(record->listen_first);
    EXPECT_EQ((*(*store)->Get("large"))->value, std::string(1 << 20, 'x'));
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  std::string data_, content_;
  BackupHeader header_;
};

TEST_F(RestoreTest, MakesAFolderInWhichANewEpochHasBegun) {
  ExpectRestored();
  EXPECT_THAT(Names(data_), ElementsAre("lock", "state.db"));
  EXPECT_THAT(Refusal(), HasSubstr("is not empty"));
}

TEST_F(RestoreTest, TakesAnEmptyFolder) {
  std::filesystem::create_directories(data_ + "/lost+found");
  ExpectRestored();
}

TEST_F(RestoreTest, WhatIsNotEmptyIsNotTouched) {
  std::filesystem::create_directories(data_);
  std::ofstream(data_ + "/mine") << "x";
  EXPECT_THAT(Refusal(), HasSubstr("folder " + data_ + " is not empty"));
  EXPECT_THAT(Names(data_), ElementsAre("mine"));
  std::filesystem::remove(data_ + "/mine");
  std::ofstream(data_ + "/lock") << "123\n";
  std::ofstream(data_ + "/state.db") << "x";
  EXPECT_THAT(Refusal(), HasSubstr("is not empty"));
  EXPECT_THAT(Names(data_), ElementsAre("lock", "state.db"));
  std::filesystem::remove_all(data_);
  std::ofstream(data_) << "a file";
  EXPECT_EQ(RestoreBackup(file_(), data_).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RestoreBackup(file_(), "").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RestoreTest, AFolderThatACoordinatorHasIsRefused) {
  const auto held = DataFolder::Open(data_);
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_THAT(Refusal(),
              HasSubstr(absl::StrCat("is in use by a coordinator, a restore or a recover with pid ", getpid())));
  std::ofstream(data_ + "/state.db") << "x";
  EXPECT_THAT(Refusal(), HasSubstr(absl::StrCat("with pid ", getpid())));
}

TEST_F(RestoreTest, WhatIsNoWholeBackupTouchesNothing) {
  std::stringstream read;
  read << std::ifstream(file_()).rdbuf();
  const std::string whole = read.str();
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& bad : {flipped, whole.substr(0, whole.size() - 1), whole + "x", std::string("text")}) {
    WriteFile(bad);
    EXPECT_THAT(Refusal(), HasSubstr(file_() + " is "));
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/a"));
  }
  std::filesystem::remove(file_());
  EXPECT_EQ(RestoreBackup(file_(), data_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RestoreTest, ANewerSchemaNamesTheReleaseToInstall) {
  header_.schema = 99;
  header_.needs_release = "9.1.0";
  WriteBackup(header_, content_);
  EXPECT_THAT(Refusal(), HasSubstr("(schema version 99, this one reads up to 2): install release 9.1.0 or later"));
  header_.needs_release = "";
  header_.release = "9.2.0";
  WriteBackup(header_, content_);
  EXPECT_THAT(Refusal(), HasSubstr("install release 9.2.0 or later"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/a"));
}

// The backups of the test have right hashes, but no usable database: one has bytes that are no database, and one has
// the database of another epoch than its header says.
TEST_F(RestoreTest, WhatIsNoDatabaseOfThisClusterLeavesNoneAndTheNextOneWorks) {
  WriteBackup(header_, std::string(100'000, 'x'));
  EXPECT_THAT(Refusal(), HasSubstr(file_() + " holds no whole database"));
  EXPECT_THAT(Names(data_), ElementsAre("lock"));
  BackupHeader other = header_;
  ++other.identity.epoch_tag;
  WriteBackup(other, content_);
  EXPECT_THAT(Refusal(), HasSubstr("header of another cluster or epoch"));
  EXPECT_THAT(Names(data_), ElementsAre("lock"));
  WriteBackup(header_, content_);
  ExpectRestored();
}

TEST_F(RestoreTest, ADiskThatIsFullLeavesNothingAndTheNextTryWorks) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 512 << 10;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THAT(Refusal(), HasSubstr("cannot write"));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(Names(data_), ElementsAre("lock"));
  ExpectRestored();
}

TEST_F(RestoreTest, OneThatWasKilledIsToldAndCanBeGivenAgain) {
  std::filesystem::create_directories(data_);
  for (const char* name : {"lock", "state.db.restoring", "state.db.restoring-wal", "state.db.restoring-shm"}) {
    std::ofstream(data_ + "/" + name) << std::string(100, 'x');
  }
  EXPECT_THAT(std::string(CheckComplete(data_).message()), HasSubstr("give the same command again"));
  ExpectRestored();
  EXPECT_THAT(Names(data_), ElementsAre("lock", "state.db"));
}

TEST_F(RestoreTest, ABackupOfOneThatWasSupersededGoesAboveThat) {
  auto store = SqliteStore::Open(folder_ + "/source.db");
  ASSERT_TRUE(store.ok()) << store.status();
  ClusterRecord record = *ReadOrMakeCluster(store->get());
  record.superseded_by = common::ClusterIdentity{record.identity.cluster, 7, 1};
  ASSERT_TRUE((*store)->Commit({.writes = ToWrites(record), .events = {}}).ok());
  const auto copy = CopyDatabase(folder_ + "/source.db", folder_ + "/copy", {});
  ASSERT_TRUE(copy.ok()) << copy.status();
  content_.resize(static_cast<size_t>(copy->bytes));
  ASSERT_EQ(pread(copy->file.get(), content_.data(), content_.size(), 0), copy->bytes);
  WriteBackup(header_, content_);
  ExpectRestored(8);
}

}  // namespace
}  // namespace rekindle::coordinator
