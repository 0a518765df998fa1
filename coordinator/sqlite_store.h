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
  // Creates the file where there is none. The caller sees to it that no other process writes it (DataFolder).
  // A file over `max_bytes` answers RESOURCE_EXHAUSTED as a full disk does.
  static absl::StatusOr<std::unique_ptr<SqliteStore>> Open(const std::string& path, int64_t max_bytes = 4LL << 30);
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

  SqliteStore(sqlite3* db, std::string path) : db_(db), path_(std::move(path)) {}
  absl::Status Prepare(int64_t max_bytes);
  absl::Status CheckSchema();
  absl::Status CheckWhole();
  absl::Status Run(const char* sql);
  absl::Status Error(const std::string& doing) const;
  absl::StatusOr<int64_t> Number(const char* sql);
  absl::StatusOr<int64_t> CommitLocked(const Transaction& transaction);
  absl::Status CheckConditions(const Transaction& transaction);
  absl::Status WriteEntry(const Write& write, int64_t revision);
  absl::Status WriteEvents(const std::vector<v1::Event>& events);

  std::mutex mutex_;
  sqlite3* db_;
  const std::string path_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SQLITE_STORE_H_
