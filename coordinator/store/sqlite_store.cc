#include "coordinator/store/sqlite_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/text/printable.h"

namespace rekindle::coordinator {
namespace {

// A change of the schema that an older program must not lose or misread raises `kSchemaVersion` and `kNeedsRelease`. A
// program reads databases of its own version and of earlier ones, and writes its own version.
constexpr int kSchemaVersion = 2;
constexpr char kNeedsRelease[] = "0.2.0";
constexpr int kPageBytes = 4096;
// Even a small transaction may need `kSparePages` pages.
constexpr int64_t kSparePages = 16;
// Old events are pruned once per `kPruneEvery` events, because pruning at each commit would cost more than it saves.
constexpr int kPruneEvery = 1000;

constexpr char kSchema[] = R"(
  CREATE TABLE IF NOT EXISTS meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS entries(key TEXT PRIMARY KEY, value BLOB NOT NULL, revision INTEGER NOT NULL)
    WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS events(revision INTEGER PRIMARY KEY, job TEXT NOT NULL, body BLOB NOT NULL);
  CREATE INDEX IF NOT EXISTS events_of_job ON events(job, revision);
  INSERT OR IGNORE INTO meta VALUES('revision', 0), ('last_event', 0);
)";

}  // namespace

// Wraps one prepared SQL statement. If Step fails, the connection has the error.
class SqliteStore::Query {
 public:
  Query(sqlite3* db, const char* sql) { ok_ = sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr) == SQLITE_OK; }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;

  Query& Text(int at, const std::string& value) {
    if (ok_)
      ok_ = sqlite3_bind_text64(statement_, at, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
    return *this;
  }
  Query& Blob(int at, const std::string& value) {
    if (ok_) ok_ = sqlite3_bind_blob64(statement_, at, value.data(), value.size(), SQLITE_STATIC) == SQLITE_OK;
    return *this;
  }
  Query& Number(int at, int64_t value) {
    if (ok_) ok_ = sqlite3_bind_int64(statement_, at, value) == SQLITE_OK;
    return *this;
  }
  // Moves to the next row of the statement's result. Returns false when there is no further row.
  bool Step() {
    if (!ok_) return false;
    const int code = sqlite3_step(statement_);
    ok_ = code == SQLITE_ROW || code == SQLITE_DONE;
    return code == SQLITE_ROW;
  }
  bool ok() const { return ok_; }

  std::string Bytes(int column) const {
    const void* data = sqlite3_column_blob(statement_, column);
    const int size = sqlite3_column_bytes(statement_, column);
    return size > 0 ? std::string(static_cast<const char*>(data), static_cast<size_t>(size)) : "";
  }
  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  sqlite3_stmt* statement_ = nullptr;
  bool ok_;
};

SqliteStore::SqliteStore(sqlite3* db, std::string path, int64_t max_bytes)
    : db_(db), path_(std::move(path)), max_pages_(std::max<int64_t>(1, max_bytes / kPageBytes)) {}

absl::Status SqliteStore::Error(const std::string& doing) const {
  int code = sqlite3_errcode(db_) & 0xff;
  const std::string what = absl::StrCat("state store ", path_, ": ", doing, ": ", sqlite3_errmsg(db_));
  const int cause = code == SQLITE_IOERR ? sqlite3_system_errno(db_) : 0;
  // When a sync or the shared memory beside the log fails for lack of space, SQLite does not report SQLITE_FULL.
  if (cause == ENOSPC || cause == EDQUOT) code = SQLITE_FULL;
  switch (code) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(what, ": free some disk space"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(
          absl::StrCat(what, ": restore it from a backup, or move it away to start without its jobs"));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return absl::UnavailableError(absl::StrCat(what, ": let this user write the file and its folder"));
    default:
      return absl::UnavailableError(what);
  }
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(const std::string& path, const Options& options) {
  if (options.vfs.empty()) {
    // The database's file is made before SQLite opens it: SQLite would give it the mode that the umask allows, and the
    // files beside it the mode of the database. A file that exists is not opened here, because closing it would end the
    // locks that this process has on it.
    const int made = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (made >= 0) close(made);
  }
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &db, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
  if (db == nullptr) return absl::ResourceExhaustedError("state store: out of memory");
  std::unique_ptr<SqliteStore> store(new SqliteStore(db, path, options.max_bytes));
  const common::MutexLock lock(store->mutex_);
  if (code != SQLITE_OK) return store->Error("open");
  if (absl::Status prepared = store->Prepare(options); !prepared.ok()) return prepared;
  return store;
}

int SqliteStore::SchemaVersion() { return kSchemaVersion; }

SqliteStore::~SqliteStore() { sqlite3_close_v2(db_); }

absl::Status SqliteStore::Prepare(const Options& options) {
  sqlite3_extended_result_codes(db_, 0);
  if (absl::Status whole = CheckWhole(); !whole.ok()) return whole;
  if (absl::Status schema = CheckSchema(); !schema.ok()) return schema;
  const std::string pragmas =
      absl::StrCat("PRAGMA page_size=", kPageBytes,
                   "; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA max_page_count=", max_pages_,
                   "; PRAGMA wal_autocheckpoint=", options.log_pages);
  if (absl::Status set = Run(pragmas.c_str()); !set.ok()) return set;
  const std::string schema =
      absl::StrCat("BEGIN IMMEDIATE; ", kSchema, "INSERT OR REPLACE INTO meta VALUES('needs_release', '", kNeedsRelease,
                   "'); PRAGMA user_version=", kSchemaVersion, "; COMMIT");
  if (absl::Status created = Run(schema.c_str()); !created.ok()) {
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    return created;
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::CheckWhole() {
  Query check(db_, "PRAGMA quick_check(1)");
  if (!check.Step()) return Error("check");
  if (const std::string said = check.Bytes(0); said != "ok") {
    return absl::DataLossError(absl::StrCat("state store ", path_, " is damaged: ", said,
                                            ": restore it from a backup, or move it away to start without its jobs"));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::CheckSchema() {
  const absl::StatusOr<int64_t> version = Number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version <= kSchemaVersion) return absl::OkStatus();
  Query needed(db_, "SELECT value FROM meta WHERE name = 'needs_release'");
  const std::string release = needed.Step() ? common::Printable(needed.Bytes(0), 32) : "";
  return absl::FailedPreconditionError(
      absl::StrCat("state store ", path_, " was written by a newer release (schema version ", *version,
                   ", this one reads up to ", kSchemaVersion, "): install ",
                   release.empty() ? "the release that wrote it" : absl::StrCat("release ", release, " or later")));
}

absl::Status SqliteStore::Run(const char* sql) {
  return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? absl::OkStatus() : Error("write");
}

absl::StatusOr<int64_t> SqliteStore::Number(const char* sql) {
  Query query(db_, sql);
  if (!query.Step()) return Error("read");
  return query.Integer(0);
}

absl::StatusOr<int64_t> SqliteStore::Commit(const Transaction& transaction) {
  const common::MutexLock lock(mutex_);
  if (absl::Status begun = Run("BEGIN IMMEDIATE"); !begun.ok()) return begun;
  absl::StatusOr<int64_t> revision = CommitLocked(transaction);
  if (revision.ok()) {
    if (absl::Status committed = Run("COMMIT"); !committed.ok()) revision = committed;
  }
  if (revision.ok()) return revision;
  sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  return absl::IsResourceExhausted(revision.status()) ? WhyFull(revision.status(), transaction) : revision;
}

absl::Status SqliteStore::WhyFull(const absl::Status& full, const Transaction& transaction) {
  size_t bytes = 0;
  for (const Write& write : transaction.writes) bytes += write.key.size() + (write.value ? write.value->size() : 0);
  for (const v1::Event& event : transaction.events) bytes += event.ByteSizeLong();
  const absl::StatusOr<int64_t> pages = Number("PRAGMA page_count");
  const absl::StatusOr<int64_t> unused = Number("PRAGMA freelist_count");
  if (!pages.ok() || !unused.ok()) return full;
  const int64_t used = *pages - *unused;
  // A transaction counts as twice the pages that its `bytes` bytes fill, because pages are seldom quite full.
  const int64_t wanted = 2 * static_cast<int64_t>(bytes) / kPageBytes + kSparePages;
  if (used + wanted <= max_pages_) return full;
  return absl::OutOfRangeError(absl::StrCat("state store ", path_, " has ", used * kPageBytes >> 20,
                                            " MiB, and may have no more than ", max_pages_ * kPageBytes >> 20,
                                            " MiB: start the coordinator again with a larger --state-limit"));
}

absl::StatusOr<int64_t> SqliteStore::CommitLocked(const Transaction& transaction) {
  if (absl::Status conditions = CheckConditions(transaction); !conditions.ok()) return conditions;
  const absl::StatusOr<int64_t> revision =
      Number("UPDATE meta SET value = value + 1 WHERE name = 'revision' RETURNING value");
  if (!revision.ok()) return revision;
  for (const Write& write : transaction.writes) {
    if (absl::Status written = WriteEntry(write, *revision); !written.ok()) return written;
  }
  if (absl::Status written = WriteEvents(transaction.events); !written.ok()) return written;
  return revision;
}

absl::Status SqliteStore::CheckConditions(const Transaction& transaction) {
  for (const Write& write : transaction.writes) {
    if (!write.if_revision) continue;
    Query query(db_, "SELECT revision FROM entries WHERE key = ?");
    const int64_t revision = query.Text(1, write.key).Step() ? query.Integer(0) : 0;
    if (!query.ok()) return Error("read");
    if (revision == *write.if_revision) continue;
    return absl::AbortedError(absl::StrCat(write.key, " has revision ", revision, ", expected ", *write.if_revision));
  }
  return absl::OkStatus();
}

absl::Status SqliteStore::WriteEntry(const Write& write, int64_t revision) {
  if (!write.value) {
    Query query(db_, "DELETE FROM entries WHERE key = ?");
    query.Text(1, write.key).Step();
    return query.ok() ? absl::OkStatus() : Error("delete");
  }
  Query query(db_, "INSERT OR REPLACE INTO entries VALUES(?, ?, ?)");
  query.Text(1, write.key).Blob(2, *write.value).Number(3, revision).Step();
  return query.ok() ? absl::OkStatus() : Error("write");
}

absl::Status SqliteStore::WriteEvents(const std::vector<v1::Event>& events) {
  if (events.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> last = Number("SELECT value FROM meta WHERE name = 'last_event'");
  if (!last.ok()) return last.status();
  int64_t newest = *last;
  for (const v1::Event& event : events) {
    if (event.revision() <= newest) return absl::AbortedError(absl::StrCat("event ", event.revision(), " is not new"));
    newest = event.revision();
    Query query(db_, "INSERT INTO events VALUES(?, ?, ?)");
    const std::string body = event.SerializeAsString();
    query.Number(1, event.revision()).Text(2, event.job()).Blob(3, body).Step();
    if (!query.ok()) return Error("write");
  }
  Query query(db_, "UPDATE meta SET value = ? WHERE name = 'last_event'");
  query.Number(1, newest).Step();
  if (!query.ok()) return Error("write");
  if (newest / kPruneEvery == *last / kPruneEvery) return absl::OkStatus();
  Query prune(db_, "DELETE FROM events WHERE revision <= ?");
  prune.Number(1, newest - kKeptEvents).Step();
  return prune.ok() ? absl::OkStatus() : Error("delete");
}

absl::StatusOr<std::optional<Entry>> SqliteStore::Get(const std::string& key) {
  const common::MutexLock lock(mutex_);
  Query query(db_, "SELECT value, revision FROM entries WHERE key = ?");
  if (query.Text(1, key).Step()) return Entry{key, query.Bytes(0), query.Integer(1)};
  if (!query.ok()) return Error("read");
  return std::nullopt;
}

absl::StatusOr<std::vector<Entry>> SqliteStore::List(const std::string& prefix) {
  const common::MutexLock lock(mutex_);
  std::vector<Entry> found;
  Query query(db_, "SELECT key, value, revision FROM entries WHERE key >= ? ORDER BY key");
  query.Text(1, prefix);
  while (query.Step()) {
    std::string key = query.Bytes(0);
    if (key.compare(0, prefix.size(), prefix) != 0) return found;
    found.push_back({std::move(key), query.Bytes(1), query.Integer(2)});
  }
  if (!query.ok()) return Error("read");
  return found;
}

absl::StatusOr<std::vector<v1::Event>> SqliteStore::Events(int32_t after, const std::string& job, int limit) {
  const common::MutexLock lock(mutex_);
  std::vector<v1::Event> found;
  Query query(db_, job.empty() ? "SELECT body FROM events WHERE revision > ?1 ORDER BY revision LIMIT ?2"
                               : "SELECT body FROM events WHERE revision > ?1 AND job = ?3 ORDER BY revision LIMIT ?2");
  query.Number(1, after).Number(2, limit);
  if (!job.empty()) query.Text(3, job);
  while (query.Step()) {
    if (!found.emplace_back().ParseFromString(query.Bytes(0))) {
      return absl::DataLossError(absl::StrCat("state store ", path_, ": an event after ", after, " is damaged"));
    }
  }
  if (!query.ok()) return Error("read");
  return found;
}

absl::StatusOr<int32_t> SqliteStore::LastEventRevision() {
  const common::MutexLock lock(mutex_);
  const absl::StatusOr<int64_t> last = Number("SELECT value FROM meta WHERE name = 'last_event'");
  if (!last.ok()) return last.status();
  return static_cast<int32_t>(*last);
}

}  // namespace rekindle::coordinator
