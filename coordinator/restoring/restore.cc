#include "coordinator/restoring/restore.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle_reader.h"
#include "common/files/file.h"
#include "common/text/printable.h"
#include "coordinator/bundles/bundle_shelf.h"
#include "coordinator/folder/new_data_folder.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/record_keys.h"
#include "coordinator/store/sqlite_store.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kReadAtOnce = 1 << 20;

// Returns `status` with its message preceded by the name of the file.
absl::Status Of(const std::string& file, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(file, " ", status.message()));
}

// An error of `bundles` is one of the file.
absl::StatusOr<BackupHeader> ReadBackup(const std::string& file, BackupReader::Sink sink,
                                        BackupReader::BundleSink bundles) {
  const auto opened = common::PosixFileSystem()->Open(file);
  if (!opened.ok()) return opened.status();
  // `failed` is an error of the sink. It names a file already, so the name of the backup is not added.
  absl::Status failed;
  BackupReader reader([&](std::string_view content) { return failed = sink(content); }, std::move(bundles));
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

absl::Status CheckBundle(const std::string& address, const std::string& packed) {
  return common::CheckPackedBundle(packed, address).status();
}

// Writes the database to `path`, and the bundles into the data folder `data`.
absl::Status WriteContent(const std::string& file, const std::string& path, const std::string& data) {
  auto database = common::PosixFileSystem()->Create(path);
  if (!database.ok()) return database.status();
  const absl::StatusOr<BackupHeader> read = ReadBackup(
      file, [&](std::string_view content) { return (*database)->Append(content.data(), content.size()); },
      [&](const std::string& address, const std::string& packed) { return PlaceBundle(data, address, packed); });
  absl::Status written = read.status();
  // The schema is checked once more, because another file may have the backup's name since it was checked.
  if (written.ok()) written = CheckSchema(file, *read);
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

// Begins another epoch in the database at `path`, and returns what the database holds. On return the database is that
// one file, without a write-ahead log.
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
  return restored;
}

}  // namespace

absl::StatusOr<Restored> RestoreBackup(const std::string& file, const std::string& data) {
  const absl::StatusOr<BackupHeader> backup = ReadBackup(
      file, [](std::string_view) { return absl::OkStatus(); }, CheckBundle);
  if (!backup.ok()) return backup.status();
  if (absl::Status schema = CheckSchema(file, *backup); !schema.ok()) return schema;
  absl::StatusOr<NewDataFolder> folder = NewDataFolder::Open(data);
  if (!folder.ok()) return folder.status();
  if (absl::Status written = WriteContent(file, folder->unfinished(), folder->path()); !written.ok()) return written;
  absl::StatusOr<Restored> restored = BeginEpochIn(folder->unfinished(), *backup);
  if (absl::IsDataLoss(restored.status())) return Of(file, restored.status());
  if (!restored.ok()) return restored;
  if (absl::Status placed = folder->Place(); !placed.ok()) return placed;
  restored->data = folder->path();
  return restored;
}

}  // namespace rekindle::coordinator
