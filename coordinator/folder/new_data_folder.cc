#include "coordinator/folder/new_data_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/process/process.h"

namespace rekindle::coordinator {
namespace {

constexpr char kDatabase[] = "state.db";
// The database has the name `kUnfinished` until it is complete. The names of SQLite's own files beside it begin with
// that name.
constexpr char kUnfinished[] = "state.db.restoring";

// Bundles are written before the database. They are named by their content, so those of an earlier try do no harm.
constexpr char kBundles[] = "bundles";

// Returns those of `names`, the files in a folder, that make the folder count as not empty. What an earlier restore or
// recover has left does not count, nor does what a fresh file system has.
std::vector<std::string> Others(const std::vector<std::string>& names) {
  std::vector<std::string> others;
  for (const std::string& name : names) {
    const bool is_left = name == "lock" || name == "lost+found" || name == kBundles;
    if (!is_left && !absl::StartsWith(name, kUnfinished)) others.push_back(name);
  }
  return others;
}

absl::StatusOr<std::vector<std::string>> List(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> names = common::PosixFileSystem()->List(folder);
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  return names;
}

// Opens an empty data folder and locks it. A folder that is not empty is not touched.
absl::StatusOr<DataFolder> OpenEmpty(const std::string& data) {
  const DataFolder::Use use{.holder = "a coordinator, a restore or a recover", .flag = "--data"};
  const absl::StatusOr<std::vector<std::string>> before = List(data);
  if (!before.ok()) return before.status();
  const bool fresh = Others(*before).empty();
  const bool locked = std::find(before->begin(), before->end(), "lock") != before->end();
  const absl::Status not_empty = absl::FailedPreconditionError(
      absl::StrCat("folder ", data, " is not empty: name a new one, or move what is in it away"));
  // If a folder that is not empty has a lock file, the lock shows whether a process holds the folder.
  if (!fresh && !locked) return not_empty;
  if (fresh) {
    absl::Status parents = common::CreateFolders(*common::PosixFileSystem(), common::DirName(data));
    if (!parents.ok()) return absl::InvalidArgumentError(absl::StrCat("--data: ", parents.message()));
  }
  absl::StatusOr<DataFolder> folder = DataFolder::Open(data, use);
  if (!folder.ok()) return folder;
  // Another process may have added files before this one took the lock, so the folder is listed again.
  const absl::StatusOr<std::vector<std::string>> names = List(data);
  if (!names.ok()) return names.status();
  if (!Others(*names).empty()) return not_empty;
  return folder;
}

void RemoveUnfinished(const std::string& data) {
  const absl::StatusOr<std::vector<std::string>> names = List(data);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (absl::StartsWith(name, kUnfinished)) unlink(absl::StrCat(data, "/", name).c_str());
  }
}

absl::Status SyncFile(const std::string& path) {
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || fsync(file.get()) != 0) return common::ErrnoStatus(errno, "cannot sync", path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NewDataFolder> NewDataFolder::Open(const std::string& data) {
  if (data.empty()) return absl::InvalidArgumentError("--data is missing: name a folder for the state");
  absl::StatusOr<DataFolder> folder = OpenEmpty(std::filesystem::absolute(data).lexically_normal());
  if (!folder.ok()) return folder.status();
  // If this user may not change the folder's mode, the mode of the database itself still guards the database.
  std::ignore = chmod(folder->path().c_str(), 0700);
  RemoveUnfinished(folder->path());
  return NewDataFolder(*std::move(folder));
}

NewDataFolder::~NewDataFolder() {
  if (folder_ != nullptr) RemoveUnfinished(path());
}

std::string NewDataFolder::unfinished() const { return absl::StrCat(path(), "/", kUnfinished); }

absl::Status NewDataFolder::Place() {
  // Closing an SQLite database copies its write-ahead log into it, and removes the log only if that has worked.
  const std::string log = absl::StrCat(unfinished(), "-wal");
  if (access(log.c_str(), F_OK) == 0)
    return absl::InternalError(absl::StrCat("cannot take ", log, " into the database"));
  common::FileSystem& fs = *common::PosixFileSystem();
  absl::Status placed = SyncFile(unfinished());
  if (placed.ok()) placed = fs.Rename(unfinished(), absl::StrCat(path(), "/", kDatabase));
  if (placed.ok()) placed = fs.SyncDir(path());
  if (placed.ok()) placed = fs.SyncDir(common::DirName(path()));
  return placed;
}

absl::Status CheckComplete(const std::string& data) {
  if (access(absl::StrCat(data, "/", kUnfinished).c_str(), F_OK) != 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("a restore or recover into ", data,
                                                    " did not come to its end: give the same command again, or another "
                                                    "--data"));
}

}  // namespace rekindle::coordinator
