// Tests the contract of StateStore on every implementation, and then what only SqliteStore has.
#include "coordinator/store/state_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <functional>
#include <memory>

#include "common/testing/temporary_folder_testing.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/store/testing/memory_store.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::Event MakeEvent(int revision, const std::string& job) {
  v1::Event event;
  event.set_revision(revision);
  event.set_job(job);
  event.set_kind("started");
  return event;
}

std::vector<int> Revisions(const absl::StatusOr<std::vector<v1::Event>>& events) {
  EXPECT_TRUE(events.ok()) << events.status();
  std::vector<int> revisions;
  if (events.ok()) {
    for (const v1::Event& event : *events) revisions.push_back(event.revision());
  }
  return revisions;
}

// A Folder is a temporary folder for one database.
struct Folder {
  std::string File() const { return temporary.path() + "/state.db"; }

  common::TemporaryFolder temporary;
};

std::unique_ptr<SqliteStore> OpenSqlite(const std::string& path, int64_t max_bytes = 1 << 28) {
  auto store = SqliteStore::Open(path, {.max_bytes = max_bytes});
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

class StateStoreContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "memory") {
      store_ = std::make_unique<MemoryStore>();
    } else {
      store_ = OpenSqlite(folder_.File());
    }
    ASSERT_NE(store_, nullptr);
  }

  Folder folder_;
  std::unique_ptr<StateStore> store_;
};

TEST_P(StateStoreContract, ComparesAndSwaps) {
  const auto first = store_->Put("a", "1", 0);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(store_->Put("a", "x", 0).status().code(), absl::StatusCode::kAborted);
  const auto second = store_->Put("a", std::string("2\0z", 3), *first);
  ASSERT_TRUE(second.ok());
  EXPECT_GT(*second, *first);
  EXPECT_EQ(store_->Put("a", "x", *first).status().code(), absl::StatusCode::kAborted);
  const auto read = store_->Get("a");
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_EQ((*read)->value, std::string("2\0z", 3));
  EXPECT_EQ((*read)->revision, *second);
  EXPECT_EQ(store_->Delete("a", *first).status().code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(store_->Delete("a", *second).ok());
  EXPECT_FALSE((*store_->Get("a")).has_value());
  EXPECT_TRUE(store_->Delete("a").ok());
  EXPECT_TRUE(store_->Put("a", "").ok());
  EXPECT_EQ((*store_->Get("a"))->value, "");
}

TEST_P(StateStoreContract, TransactionsAreWhole) {
  const auto revision = store_->Commit({{{"a", "1"}, {"b", "1"}}, {MakeEvent(1, "j")}});
  ASSERT_TRUE(revision.ok()) << revision.status();
  EXPECT_EQ((*store_->Get("a"))->revision, *revision);
  EXPECT_EQ((*store_->Get("b"))->revision, *revision);

  const auto failed = store_->Commit({{{"a", "2"}, {"c", "2"}, {"b", "2", 999}}, {MakeEvent(2, "j")}});
  EXPECT_EQ(failed.status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ((*store_->Get("a"))->value, "1");
  EXPECT_FALSE((*store_->Get("c")).has_value());
  EXPECT_THAT(Revisions(store_->Events(0, "", 10)), ElementsAre(1));

  const auto stale = store_->Commit({{{"a", "3"}}, {MakeEvent(1, "j")}});
  EXPECT_EQ(stale.status().code(), absl::StatusCode::kAborted) << "an event that is not new";
  EXPECT_EQ((*store_->Get("a"))->value, "1");
}

TEST_P(StateStoreContract, ListsByPrefix) {
  for (const char* key : {"job/b", "job/a", "job", "jobs/x", "node/a"}) ASSERT_TRUE(store_->Put(key, key).ok());
  const auto jobs = store_->List("job/");
  ASSERT_TRUE(jobs.ok());
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].key, "job/a");
  EXPECT_EQ((*jobs)[1].value, "job/b");
  EXPECT_TRUE(store_->List("none/")->empty());
  EXPECT_EQ(store_->List("")->size(), 5u);
}

TEST_P(StateStoreContract, EventsResumeFromARevision) {
  EXPECT_EQ(*store_->LastEventRevision(), 0);
  ASSERT_TRUE(store_->Commit({{}, {MakeEvent(1, "a"), MakeEvent(2, "b"), MakeEvent(5, "a")}}).ok());
  EXPECT_EQ(*store_->LastEventRevision(), 5);
  EXPECT_THAT(Revisions(store_->Events(0, "", 10)), ElementsAre(1, 2, 5));
  EXPECT_THAT(Revisions(store_->Events(1, "", 1)), ElementsAre(2));
  EXPECT_THAT(Revisions(store_->Events(0, "a", 10)), ElementsAre(1, 5));
  EXPECT_THAT(Revisions(store_->Events(5, "", 10)), ElementsAre());
}

TEST_P(StateStoreContract, OldEventsArePruned) {
  Transaction many;
  const int last = StateStore::kKeptEvents + 3000;
  for (int revision = 1; revision <= last; ++revision) many.events.push_back(MakeEvent(revision, "a"));
  ASSERT_TRUE(store_->Commit(many).ok());
  const int oldest = Revisions(store_->Events(0, "", 1)).at(0);
  EXPECT_LE(oldest, last - StateStore::kKeptEvents + 1);
  EXPECT_GE(oldest, last - StateStore::kKeptEvents - 1000);
}

INSTANTIATE_TEST_SUITE_P(All, StateStoreContract, testing::Values("memory", "sqlite"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SqliteStore, KeepsAcrossProcesses) {
  Folder folder;
  int64_t revision;
  {
    auto store = OpenSqlite(folder.File());
    ASSERT_TRUE(store->Put("x", "1").ok());
    revision = *store->Commit({{{"a", "1"}}, {MakeEvent(7, "j")}});
  }
  auto store = OpenSqlite(folder.File());
  EXPECT_EQ((*store->Get("a"))->revision, revision);
  EXPECT_EQ(*store->LastEventRevision(), 7);
  EXPECT_GT(*store->Put("a", "2", revision), revision);
}

TEST(SqliteStore, TheLargestSizeIsSaidAndChangesNothing) {
  Folder folder;
  auto store = OpenSqlite(folder.File(), 256 << 10);
  ASSERT_TRUE(store->Put("a", "small").ok());
  const auto full = store->Commit({{{"a", "other"}, {"b", std::string(1 << 20, 'x')}}, {}});
  EXPECT_EQ(full.status().code(), absl::StatusCode::kOutOfRange) << full.status();
  EXPECT_THAT(std::string(full.status().message()), HasSubstr("with a larger --state-limit"));
  EXPECT_EQ((*store->Get("a"))->value, "small");
  EXPECT_TRUE(store->Put("a", "again").ok());
}

TEST(SqliteStore, DamageIsFoundAtOpen) {
  Folder folder;
  {
    auto store = OpenSqlite(folder.File());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(store->Put("key" + std::to_string(i), std::string(3000, 'x')).ok());
  }
  {
    std::fstream file(folder.File(), std::ios::in | std::ios::out | std::ios::binary);
    for (int page = 2; page < 20; ++page) {
      file.seekp(page * 4096);
      file << std::string(64, '\xa5');
    }
  }
  const auto damaged = SqliteStore::Open(folder.File());
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss) << damaged.status();
  EXPECT_THAT(std::string(damaged.status().message()), HasSubstr("restore it from a backup"));

  std::ofstream(folder.File(), std::ios::trunc) << std::string(8192, 'x');
  EXPECT_EQ(SqliteStore::Open(folder.File()).status().code(), absl::StatusCode::kDataLoss);
}

void RunSql(const std::string& path, const std::string& sql) {
  sqlite3* db;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
}

TEST(SqliteStore, NewerSchemaIsRefusedWithTheReleaseToInstall) {
  Folder folder;
  OpenSqlite(folder.File());
  const auto refusal = [&] {
    const auto newer = SqliteStore::Open(folder.File());
    EXPECT_EQ(newer.status().code(), absl::StatusCode::kFailedPrecondition);
    return std::string(newer.status().message());
  };
  RunSql(folder.File(), "PRAGMA user_version=99");
  EXPECT_THAT(refusal(), HasSubstr("(schema version 99, this one reads up to 2): install release 0.2.0 or later"));
  RunSql(folder.File(), "UPDATE meta SET value='9.1.0' WHERE name='needs_release'");
  EXPECT_THAT(refusal(), HasSubstr("install release 9.1.0 or later"));
  RunSql(folder.File(), "DROP TABLE meta");
  EXPECT_THAT(refusal(), HasSubstr("install the release that wrote it"));
}

}  // namespace
}  // namespace rekindle::coordinator
