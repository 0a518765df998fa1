#include "coordinator/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/file.h"
#include "common/printable.h"
#include "common/process.h"
#include "coordinator/cluster_record.h"
#include "coordinator/data_folder.h"
#include "coordinator/record_keys.h"
#include "coordinator/sqlite_store.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {
namespace {

constexpr char kDatabase[] = "state.db";
constexpr char kRestoring[] = "state.db.restoring";  // Its name until it is whole; SQLite's own files begin with it.
constexpr size_t kReadAtOnce = 1 << 20;

// `status` said of that file.
absl::Status Of(const std::string& file, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(file, " ", status.message()));
}

absl::StatusOr<BackupHeader> ReadBackup(const std::string& file, BackupReader::Sink sink) {
  const auto opened = common::PosixFileSystem()->Open(file);
  if (!opened.ok()) return opened.status();
  absl::Status failed;  // Of the sink: it names its own file.
  BackupReader reader([&](std::string_view content) { return failed = sink(content); });
  std::vector<char> buffer(kReadAtOnce);
  for (int64_t at = 0;;) {
    const absl::StatusOr<size_t> got = (*opened)->ReadAt(at, buffer.data(), buffer.size());
    if (!got.ok()) return got.status();
    if (*got == 0) break;
    at += static_cast<int64_t>(*got);
    const absl::Status taken = reader.Take({buffer.data(), *got});
    if (!taken.ok()) return failed.ok() ? Of(file, taken) : failed;
  }
  absl::StatusOr<BackupHeader> header = reader.Finish();
  if (!header.ok()) return Of(file, header.status());
  return header;
}

absl::Status CheckSchema(const std::string& file, const BackupHeader& header) {
  if (header.schema <= SqliteStore::SchemaVersion()) return absl::OkStatus();
  const std::string& release = header.needs_release.empty() ? header.release : header.needs_release;
  return absl::FailedPreconditionError(
      absl::StrCat(file, " was made by a newer release (schema version ", header.schema, ", this one reads up to ",
                   SqliteStore::SchemaVersion(), "): install release ", common::Printable(release, 32), " or later"));
}

// Names in the folder that no restore leaves there, nor a fresh file system.
std::vector<std::string> Others(const std::vector<std::string>& names) {
  std::vector<std::string> others;
  for (const std::string& name : names) {
    if (name != "lock" && name != "lost+found" && !absl::StartsWith(name, kRestoring)) others.push_back(name);
  }
  return others;
}

absl::StatusOr<std::vector<std::string>> List(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> names = common::PosixFileSystem()->List(folder);
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  return names;
}

// An empty folder, held. What is not empty is not touched.
absl::StatusOr<DataFolder> OpenEmpty(const std::string& data) {
  const DataFolder::Use use{.holder = "a coordinator or another restore", .flag = "--data"};
  const absl::StatusOr<std::vector<std::string>> before = List(data);
  if (!before.ok()) return before.status();
  const bool fresh = Others(*before).empty();
  const bool locked = std::find(before->begin(), before->end(), "lock") != before->end();
  const absl::Status not_empty = absl::FailedPreconditionError(
      absl::StrCat("folder ", data, " is not empty: restore into a new one, or move what is in it away"));
  if (!fresh && !locked) return not_empty;  // Else the lock tells whether somebody has it.
  if (fresh) {
    absl::Status parents = common::CreateFolders(*common::PosixFileSystem(), common::DirName(data));
    if (!parents.ok()) return absl::InvalidArgumentError(absl::StrCat("--data: ", parents.message()));
  }
  absl::StatusOr<DataFolder> folder = DataFolder::Open(data, use);
  if (!folder.ok()) return folder;
  const absl::StatusOr<std::vector<std::string>> names = List(data);  // Now that nobody else adds to them.
  if (!names.ok()) return names.status();
  if (!Others(*names).empty()) return not_empty;
  return folder;
}

void RemoveRestoring(const std::string& data) {
  const absl::StatusOr<std::vector<std::string>> names = List(data);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (absl::StartsWith(name, kRestoring)) unlink(absl::StrCat(data, "/", name).c_str());
  }
}

absl::Status WriteDatabase(const std::string& file, const std::string& path) {
  auto database = common::CreatePrivate(path);
  if (!database.ok()) return database.status();
  const absl::StatusOr<BackupHeader> read =
      ReadBackup(file, [&](std::string_view content) { return (*database)->Append(content.data(), content.size()); });
  absl::Status written = read.status();
  if (written.ok()) written = CheckSchema(file, *read);  // It may be another file by now.
  if (written.ok()) written = (*database)->Sync();
  const absl::Status closed = (*database)->Close();
  return written.ok() ? closed : written;
}

absl::StatusOr<std::map<v1::JobState, int>> CountJobs(SqliteStore& store) {
  const absl::StatusOr<std::vector<Entry>> entries = store.List(kJobKeys);
  if (!entries.ok()) return entries.status();
  std::map<v1::JobState, int> jobs;
  for (const Entry& entry : *entries) {
    v1::JobRecord record;
    if (!record.ParseFromString(entry.value)) {
      return absl::DataLossError(absl::StrCat("has a record that cannot be read: ", common::Printable(entry.key)));
    }
    ++jobs[record.job().status().state()];
  }
  return jobs;
}

// What the database at `path` holds, once another epoch has begun there. All of it is in that one file then.
absl::StatusOr<Restored> BeginEpochIn(const std::string& path, const BackupHeader& backup) {
  Restored restored{.backup = backup};
  {
    const absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(path);
    if (absl::IsDataLoss(store.status())) return absl::DataLossError("holds no whole database: take another backup");
    if (!store.ok()) return store.status();
    const absl::StatusOr<ClusterRecord> before = ReadOrMakeCluster(store->get());
    if (!before.ok()) return before.status();
    if (before->identity != backup.identity) return absl::DataLossError("has the header of another cluster or epoch");
    const absl::StatusOr<ClusterRecord> begun = BeginEpoch(store->get());
    if (!begun.ok()) return begun.status();
    restored.identity = begun->identity;
    absl::StatusOr<std::map<v1::JobState, int>> jobs = CountJobs(**store);
    if (!jobs.ok()) return jobs.status();
    restored.jobs = *std::move(jobs);
  }
  // Closing it takes its log in, and removes that only where this has worked.
  const std::string log = absl::StrCat(path, "-wal");
  if (access(log.c_str(), F_OK) == 0)
    return absl::InternalError(absl::StrCat("cannot take ", log, " into the database"));
  return restored;
}

absl::Status SyncFile(const std::string& path) {
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || fsync(file.get()) != 0) return common::ErrnoStatus(errno, "cannot sync", path);
  return absl::OkStatus();
}

absl::StatusOr<Restored> RestoreInto(const std::string& file, const BackupHeader& backup, const std::string& data) {
  const std::string path = absl::StrCat(data, "/", kRestoring);
  if (absl::Status written = WriteDatabase(file, path); !written.ok()) return written;
  absl::StatusOr<Restored> restored = BeginEpochIn(path, backup);
  if (absl::IsDataLoss(restored.status())) return Of(file, restored.status());
  if (!restored.ok()) return restored;
  common::FileSystem& fs = *common::PosixFileSystem();
  absl::Status placed = SyncFile(path);
  if (placed.ok()) placed = fs.Rename(path, absl::StrCat(data, "/", kDatabase));
  if (placed.ok()) placed = fs.SyncDir(data);
  if (placed.ok()) placed = fs.SyncDir(common::DirName(data));
  if (!placed.ok()) return placed;
  restored->data = data;
  return restored;
}

}  // namespace

absl::StatusOr<Restored> RestoreBackup(const std::string& file, const std::string& data) {
  const absl::StatusOr<BackupHeader> backup = ReadBackup(file, [](std::string_view) { return absl::OkStatus(); });
  if (!backup.ok()) return backup.status();
  if (absl::Status schema = CheckSchema(file, *backup); !schema.ok()) return schema;
  if (data.empty()) return absl::InvalidArgumentError("--data is missing: name a folder for the state");
  const absl::StatusOr<DataFolder> folder = OpenEmpty(std::filesystem::absolute(data).lexically_normal());
  if (!folder.ok()) return folder.status();
  std::ignore = chmod(folder->path().c_str(), 0700);  // The database's own mode guards it where this user may not.
  RemoveRestoring(folder->path());
  absl::StatusOr<Restored> restored = RestoreInto(file, *backup, folder->path());
  if (!restored.ok()) RemoveRestoring(folder->path());
  return restored;
}

absl::Status CheckRestored(const std::string& data) {
  if (access(absl::StrCat(data, "/", kRestoring).c_str(), F_OK) != 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "a restore into ", data, " did not come to its end: give the same `rekindle restore` again, or another --data"));
}

}  // namespace rekindle::coordinator
