// Tests that a copy of a database is what one transaction saw, whoever writes meanwhile, and that no files are left
// behind.
#include "coordinator/store/database_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "common/digest/hash.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/store/record_keys.h"
#include "coordinator/store/sqlite_store.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;

class DatabaseCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = SqliteStore::Open(From());
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    Transaction much;
    for (int i = 0; i < 100; ++i) much.writes.push_back({"key" + std::to_string(i), std::string(10'000, 'x'), {}});
    ASSERT_TRUE(store_->Commit(much).ok());
  }
  void TearDown() override { store_.reset(); }

  std::string From() const { return folder_ + "/state.db"; }
  std::string To() const { return folder_ + "/copy"; }

  // Writes `n` under the keys "a" and "z" in one transaction.
  void PutPair(int n) { ASSERT_TRUE(store_->Commit({{{"a", std::to_string(n)}, {"z", std::to_string(n)}}, {}}).ok()); }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }

  static std::string ContentOf(const DatabaseCopy& copy) {
    std::string content(static_cast<size_t>(copy.bytes), '\0');
    EXPECT_EQ(pread(copy.file.get(), content.data(), content.size(), 0), copy.bytes);
    return content;
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(DatabaseCopyTest, IsWhatOneTransactionSawWhileTheDatabaseIsWritten) {
  PutPair(0);
  ASSERT_TRUE(store_->Put(kIdentityKey, "who").ok());
  int steps = 0;
  const auto copy = CopyDatabase(From(), To(), {.pages_at_once = 8, .after_step = [&] {
                                                  PutPair(++steps);
                                                  ASSERT_TRUE(store_->Put("key1", std::string(50'000, 'y')).ok());
                                                  ASSERT_TRUE(store_->Delete("key2").ok());
                                                  ASSERT_TRUE(store_->Put(kIdentityKey, "another").ok());
                                                }});
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_GT(steps, 20) << "it was written all along";
  EXPECT_EQ(copy->schema, SqliteStore::SchemaVersion());
  EXPECT_EQ(copy->needs_release, "0.2.0");
  EXPECT_EQ(copy->identity, "who");
  struct stat info = {};
  ASSERT_EQ(fstat(copy->file.get(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_nlink, 0u) << "it goes with its descriptor";
  EXPECT_EQ(info.st_size, copy->bytes);
  EXPECT_THAT(Names(), ElementsAre("state.db", "state.db-shm", "state.db-wal"));

  const std::string content = ContentOf(*copy);
  EXPECT_EQ(common::Xxh3_128Hex(content), copy->xxh3_128);
  std::ofstream(folder_ + "/other.db") << content;
  const auto other = SqliteStore::Open(folder_ + "/other.db");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ((*(*other)->Get("a"))->value, "0");
  EXPECT_EQ((*(*other)->Get("z"))->value, "0");
  EXPECT_EQ((*(*other)->Get("key1"))->value, std::string(10'000, 'x'));
  EXPECT_EQ((*other)->List("key")->size(), 100u);
}

TEST_F(DatabaseCopyTest, ThatIsGivenUpLeavesNothing) {
  for (int allowed = 0; allowed < 20; ++allowed) {
    int asked = 0;
    const auto copy =
        CopyDatabase(From(), To(), {.cancelled = [&] { return asked++ >= allowed; }, .pages_at_once = 16});
    ASSERT_EQ(copy.status().code(), absl::StatusCode::kCancelled) << allowed << ": " << copy.status();
    ASSERT_THAT(Names(), ElementsAre("state.db", "state.db-shm", "state.db-wal"));
  }
  PutPair(1);
}

TEST_F(DatabaseCopyTest, SaysWhatCannotBeCopied) {
  EXPECT_EQ(CopyDatabase(folder_ + "/none.db", To(), {}).status().code(), absl::StatusCode::kUnavailable);
  std::ofstream(folder_ + "/text.db") << std::string(8192, 'x');
  EXPECT_EQ(CopyDatabase(folder_ + "/text.db", To(), {}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(To()));
  std::ofstream(To()) << "somebody's";
  EXPECT_EQ(CopyDatabase(From(), To(), {}).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::exists(To()));
}

TEST_F(DatabaseCopyTest, WhatADeadProcessLeftIsRemoved) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) std::ofstream(To() + suffix) << "x";
  RemoveUnfinishedCopy(To());
  EXPECT_THAT(Names(), ElementsAre("state.db", "state.db-shm", "state.db-wal"));
  RemoveUnfinishedCopy(To());
}

}  // namespace
}  // namespace rekindle::coordinator
