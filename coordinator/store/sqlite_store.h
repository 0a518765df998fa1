// Implements a StateStore in one SQLite file. It uses a write-ahead log and synchronous=FULL, so a commit survives a
// crash of the machine.
#ifndef REKINDLE_COORDINATOR_STORE_SQLITE_STORE_H_
#define REKINDLE_COORDINATOR_STORE_SQLITE_STORE_H_

#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

#include "common/sync/mutex.h"
#include "coordinator/store/state_store.h"

namespace rekindle::coordinator {

class SqliteStore final : public StateStore {
 public:
  struct Options {
    // The database may have `max_bytes` bytes. A change that would make it larger gets OUT_OF_RANGE.
    int64_t max_bytes = 4LL << 30;
    // `vfs` is the name of an SQLite VFS, the layer through which SQLite reaches files. An empty name means the
    // system's.
    std::string vfs;
    // The write-ahead log is copied into the database when it has `log_pages` pages.
    int log_pages = 1000;
  };

  // Opens the database, and creates it if it is missing. The caller must make sure that no other process writes it
  // (DataFolder).
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path, const Options& options);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path) { return Open(path, Options()); }
  ~SqliteStore() override;
  // Returns the schema version that this program writes, which is also the newest that it reads.
  static int SchemaVersion();

  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override;
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key) override;
  absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) override;
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override;
  absl::StatusOr<int32_t> LastEventRevision() override;

 private:
  class Query;

  SqliteStore(sqlite3* db, std::string path, int64_t max_bytes);
  absl::Status Prepare(const Options& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckSchema() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckWhole() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Run(const char* sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Error(const std::string& doing) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the real cause when a transaction has failed with the error `full`. The cause differs from `full` when the
  // database, and not the disk, has no room for the transaction.
  absl::Status WhyFull(const absl::Status& full, const Transaction& transaction) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<int64_t> Number(const char* sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<int64_t> CommitLocked(const Transaction& transaction) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckConditions(const Transaction& transaction) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteEntry(const Write& write, int64_t revision) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status WriteEvents(const std::vector<v1::Event>& events) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  common::Mutex mutex_;
  sqlite3* db_ ABSL_GUARDED_BY(mutex_);
  const std::string path_;
  const int64_t max_pages_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_SQLITE_STORE_H_
