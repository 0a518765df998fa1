// Decides which of this machine's files a job may read. Those are the files in folders that the operator lists, and
// never Rekindle's own files, whatever the list says. Links are followed first, because the place of a file counts and
// not its name.
#ifndef REKINDLE_WORKER_DATA_FILES_DATA_ROOTS_H_
#define REKINDLE_WORKER_DATA_FILES_DATA_ROOTS_H_

#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"

namespace rekindle::data {

// Holds the folders that jobs may read. It is immutable, copyable and thread-safe.
class DataRoots {
 public:
  // Jobs of a node read here if no other root is given.
  static constexpr char kUsual[] = "/var/lib/rekindle/data";

  // Allows whatever this process's user may read.
  DataRoots() : DataRoots({"/"}, {}) {}
  // `roots` are absolute folders, which need not exist yet. `withheld` are files that no job reads under any name.
  // Empty names in it are ignored.
  DataRoots(std::vector<std::string> roots, std::vector<std::string> withheld);
  // Returns INVALID_ARGUMENT with the first root that is not absolute.
  static absl::Status CheckRoots(const std::vector<std::string>& roots);

  // Returns OK if a path of this name is in a root. Otherwise returns PERMISSION_DENIED, which names the roots. The
  // call looks at no file.
  absl::Status CheckName(const std::string& path) const;

  // `Found` is a file or folder in the roots. Its descriptor is only for looking at it (O_PATH).
  struct Found {
    common::UniqueFd fd;
    struct stat info = {};
    // `own` says that the file is Rekindle's own: a key, a token, or its state. No job reads it.
    bool own = false;
    // Returns a name that opens the found file without following its path again. The name is valid as long as `fd`.
    std::string Name() const;
  };
  // Finds a file or folder. Errors are those of CheckName and Unreadable. If a link leads out of the roots, the answer
  // is NOT_FOUND, whatever is there.
  absl::StatusOr<Found> Find(const std::string& path) const;
  // `FileId` identifies a file by device and inode. Withheld() returns the withheld files as they are now. Callers use
  // it for many files in a folder that was found.
  using FileId = std::pair<dev_t, ino_t>;
  std::vector<FileId> Withheld() const;
  // Returns the error for a job that tries to read what is Rekindle's own.
  static absl::Status RefuseOwn(const std::string& path);
  // Opens a regular file for reading. Errors are those of Find. In addition it returns INVALID_ARGUMENT for what is not
  // a regular file, and PERMISSION_DENIED for what is Rekindle's own.
  absl::StatusOr<common::UniqueFd> Open(const std::string& path) const;

 private:
  bool HasAll() const;
  // Returns where the path leads, with the links of the root resolved.
  absl::StatusOr<std::string> Below(const std::string& path) const;
  bool IsInside(const std::string& real) const;
  bool IsOwn(const std::string& real, const struct stat& info) const;

  std::vector<std::string> roots_;
  std::vector<std::string> withheld_;
};

// Returns NOT_FOUND, PERMISSION_DENIED or FAILED_PRECONDITION, depending on the errno in `error`.
absl::Status Unreadable(const std::string& path, int error);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_FILES_DATA_ROOTS_H_
