#include "coordinator/store/database_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/files/disk_space.h"
#include "common/files/file.h"
#include "coordinator/store/record_keys.h"

namespace rekindle::coordinator {
namespace {

// The disk must have room for the copy, for the database to double meanwhile, and for `kSpareBytes` bytes more.
constexpr int64_t kSpareBytes = 64LL << 20;
constexpr size_t kHashedAtOnce = 1 << 20;
constexpr int kBusyMs = 5000;

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Connection = std::unique_ptr<sqlite3, CloseDatabase>;

absl::Status Error(sqlite3* db, const std::string& doing, const std::string& path) {
  const int code = sqlite3_errcode(db) & 0xff;
  const std::string what = absl::StrCat("copy of the state: ", doing, " ", path, ": ", sqlite3_errmsg(db));
  if (code == SQLITE_FULL) return absl::ResourceExhaustedError(absl::StrCat(what, ": free some disk space"));
  if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) return absl::DataLossError(what);
  return absl::UnavailableError(what);
}

absl::StatusOr<Connection> Open(const std::string& path, int flags) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection db(opened);
  if (db == nullptr) return absl::ResourceExhaustedError("copy of the state: out of memory");
  if (code != SQLITE_OK) return Error(db.get(), "open", path);
  sqlite3_busy_timeout(db.get(), kBusyMs);
  return db;
}

// Runs an SQL statement. Returns the first column of the first row, or "" when there is no row.
absl::StatusOr<std::string> Ask(sqlite3* db, const std::string& sql, const std::string& path) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  std::string answer;
  if (code == SQLITE_OK) code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    answer.assign(text == nullptr ? "" : text);
  }
  sqlite3_finalize(statement);
  if (code == SQLITE_ROW || code == SQLITE_DONE) return answer;
  return Error(db, "read", path);
}

absl::StatusOr<int64_t> AskNumber(sqlite3* db, const char* sql, const std::string& path) {
  const absl::StatusOr<std::string> answer = Ask(db, sql, path);
  if (!answer.ok()) return answer.status();
  return std::strtoll(answer->c_str(), nullptr, 10);
}

absl::Status CheckSpace(int64_t bytes, const std::string& folder) {
  const absl::StatusOr<common::DiskSpace> space = common::SpaceOf(folder);
  if (!space.ok()) return space.status();
  const int64_t needed = 2 * bytes + kSpareBytes;
  if (space->free >= needed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(folder, " has ", space->free >> 20,
                                                   " MiB free, and copying the state there needs ", needed >> 20,
                                                   " MiB, so that the coordinator can go on: free some disk space"));
}

absl::Status Cancelled() { return absl::CancelledError("the copy of the state was given up"); }

// Holds the state of one copy that is being made. The descriptor `file` must be closed after the connection `to`,
// because closing any descriptor of a file drops the locks that SQLite has on the file.
struct Copying {
  common::UniqueFd file;
  Connection from, to;
  std::string from_path, to_path;
};

absl::Status CopyPages(Copying& copying, const CopyOptions& options) {
  sqlite3_backup* backup = sqlite3_backup_init(copying.to.get(), "main", copying.from.get(), "main");
  if (backup == nullptr) return Error(copying.to.get(), "write", copying.to_path);
  int code = SQLITE_OK;
  while (code == SQLITE_OK && !options.cancelled()) {
    code = sqlite3_backup_step(backup, options.pages_at_once);
    // If the file system does not support sync_file_range, the kernel itself decides when it writes the pages.
    std::ignore = sync_file_range(copying.file.get(), 0, 0,
                                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    options.after_step();
  }
  const int finished = sqlite3_backup_finish(backup);
  if (finished != SQLITE_OK) return Error(copying.to.get(), "write", copying.to_path);
  if (code == SQLITE_OK) return Cancelled();
  if (code == SQLITE_DONE) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("copy of the state: ", sqlite3_errstr(code)));
}

absl::Status Hash(const CopyOptions& options, DatabaseCopy* copy) {
  common::Hasher hasher;
  std::vector<char> buffer(kHashedAtOnce);
  int64_t hashed = 0;
  for (;;) {
    if (options.cancelled()) return Cancelled();
    const ssize_t got = pread(copy->file.get(), buffer.data(), buffer.size(), hashed);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return common::ErrnoStatus(errno, "cannot read", "the copy of the state");
    if (got == 0) break;
    hasher.Update(buffer.data(), static_cast<size_t>(got));
    hashed += got;
  }
  if (hashed != copy->bytes) {
    return absl::DataLossError(absl::StrCat("the copy of the state has ", hashed, " bytes, not ", copy->bytes));
  }
  copy->xxh3_128 = hasher.Hex();
  return absl::OkStatus();
}

absl::Status OpenBoth(Copying& copying) {
  absl::StatusOr<Connection> from = Open(copying.from_path, SQLITE_OPEN_READWRITE);
  if (!from.ok()) return from.status();
  copying.from = *std::move(from);
  absl::StatusOr<Connection> to = Open(copying.to_path, SQLITE_OPEN_READWRITE);
  if (!to.ok()) return to.status();
  copying.to = *std::move(to);
  // A copy that fails is thrown away, so it needs neither syncs nor a journal.
  absl::Status set = Ask(copying.to.get(), "PRAGMA synchronous=OFF", copying.to_path).status();
  if (set.ok()) set = Ask(copying.to.get(), "PRAGMA journal_mode=OFF", copying.to_path).status();
  return set;
}

// Begins a transaction on the database, and reads what describes it. The first read determines what all later reads
// see.
absl::StatusOr<DatabaseCopy> ReadFacts(const Copying& copying) {
  sqlite3* from = copying.from.get();
  const std::string& path = copying.from_path;
  if (const auto begun = Ask(from, "BEGIN", path); !begun.ok()) return begun.status();
  const absl::StatusOr<int64_t> schema = AskNumber(from, "PRAGMA user_version", path);
  if (!schema.ok()) return schema.status();
  const absl::StatusOr<int64_t> pages = AskNumber(from, "PRAGMA page_count", path);
  if (!pages.ok()) return pages.status();
  const absl::StatusOr<int64_t> page = AskNumber(from, "PRAGMA page_size", path);
  if (!page.ok()) return page.status();
  absl::StatusOr<std::string> release = Ask(from, "SELECT value FROM meta WHERE name = 'needs_release'", path);
  if (!release.ok()) return release.status();
  absl::StatusOr<std::string> identity =
      Ask(from, absl::StrCat("SELECT value FROM entries WHERE key = '", kIdentityKey, "'"), path);
  if (!identity.ok()) return identity.status();
  DatabaseCopy facts;
  facts.schema = static_cast<int>(*schema);
  facts.needs_release = *std::move(release);
  facts.identity = *std::move(identity);
  facts.bytes = *pages * *page;
  return facts;
}

absl::StatusOr<DatabaseCopy> Copy(Copying& copying, const CopyOptions& options) {
  if (absl::Status opened = OpenBoth(copying); !opened.ok()) return opened;
  absl::StatusOr<DatabaseCopy> copy = ReadFacts(copying);
  if (!copy.ok()) return copy;
  if (absl::Status space = CheckSpace(copy->bytes, common::DirName(copying.to_path)); !space.ok()) return space;
  if (absl::Status copied = CopyPages(copying, options); !copied.ok()) return copied;
  copying.from.reset();
  copying.to.reset();
  copy->file = std::move(copying.file);
  if (absl::Status hashed = Hash(options, &*copy); !hashed.ok()) return hashed;
  return copy;
}

}  // namespace

absl::StatusOr<DatabaseCopy> CopyDatabase(const std::string& from, const std::string& to, const CopyOptions& options) {
  Copying copying{.from_path = from, .to_path = to};
  copying.file = common::UniqueFd(open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!copying.file.valid()) return common::ErrnoStatus(errno, "cannot create", to);
  absl::StatusOr<DatabaseCopy> copy = Copy(copying, options);
  RemoveUnfinishedCopy(to);
  return copy;
}

void RemoveUnfinishedCopy(const std::string& to) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) unlink(absl::StrCat(to, suffix).c_str());
}

}  // namespace rekindle::coordinator
