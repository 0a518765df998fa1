// A StateStore in one SQLite file (write-ahead log, synchronous=FULL: a commit survives a crash of the machine).
#ifndef REKINDLE_COORDINATOR_SQLITE_STORE_H_
#define REKINDLE_COORDINATOR_SQLITE_STORE_H_

#include <sqlite3.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "coordinator/state_store.h"

namespace rekindle::coordinator {

class SqliteStore final : public StateStore {
 public:
  struct Options {
    int64_t max_bytes = 4LL << 30;  // Of the file. What would make it larger answers OUT_OF_RANGE.
    std::string vfs;                // SQLite's name of a layer of files; empty: that of the system.
    int log_pages = 1000;           // The log is copied into the file when it has so many.
  };

  // Creates the file where there is none. The caller sees to it that no other process writes it (DataFolder).
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path, const Options& options);
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path) { return Open(path, Options()); }
  ~SqliteStore() override;
  // The newest that this program reads, and the one that it writes.
  static int SchemaVersion();

  absl::StatusOr<int64_t> Commit(const Transaction& transaction) override;
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key) override;
  absl::StatusOr<std::vector<Entry>> List(const std::string& prefix) override;
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override;
  absl::StatusOr<int32_t> LastEventRevision() override;

 private:
  class Query;

  SqliteStore(sqlite3* db, std::string path, int64_t max_bytes);
  absl::Status Prepare(const Options& options);
  absl::Status CheckSchema();
  absl::Status CheckWhole();
  absl::Status Run(const char* sql);
  absl::Status Error(const std::string& doing) const;
  // What `full` is, that this transaction got, where it is not the disk that has no room for it.
  absl::Status WhyFull(const absl::Status& full, const Transaction& transaction);
  absl::StatusOr<int64_t> Number(const char* sql);
  absl::StatusOr<int64_t> CommitLocked(const Transaction& transaction);
  absl::Status CheckConditions(const Transaction& transaction);
  absl::Status WriteEntry(const Write& write, int64_t revision);
  absl::Status WriteEvents(const std::vector<v1::Event>& events);

  std::mutex mutex_;
  sqlite3* db_;
  const std::string path_;
  const int64_t max_pages_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SQLITE_STORE_H_
