// Decides which of this machine's files a job may read. Those are the files in folders that the operator lists, and
// never Rekindle's own files, whatever the list says. Symbolic links are resolved first, because it counts where a file
// is and not by which name it is reached.
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

// Holds the folders that jobs may read (the roots). It is immutable, copyable and thread-safe.
class DataRoots {
 public:
  // By default, jobs may read only the folder `kUsual`, unless the node's coordinator is on loopback.
  static constexpr char kUsual[] = "/var/lib/rekindle/data";

  // Allows jobs to read whatever this process's user may read.
  DataRoots() : DataRoots({"/"}, {}) {}
  // `roots` are absolute paths of folders, which need not exist yet. `withheld` are files that no job may read under
  // any name. Empty names in `withheld` are ignored.
  DataRoots(std::vector<std::string> roots, std::vector<std::string> withheld);
  // Checks the folders that the operator lists. Returns INVALID_ARGUMENT with the first one that is not absolute.
  static absl::Status CheckRoots(const std::vector<std::string>& roots);

  // Returns OK if `path` is in a root by its name alone, without a look at any file. Otherwise returns
  // PERMISSION_DENIED, with a text that names the roots.
  absl::Status CheckName(const std::string& path) const;

  // `Found` is a file or folder in the roots. Its descriptor can only be used to inspect it (O_PATH).
  struct Found {
    common::UniqueFd fd;
    struct stat info = {};
    // `own` says that the file is Rekindle's own: a key, a token, or its state. No job reads it.
    bool own = false;
    // Returns a name that opens the found file without following its path again. The name is valid as long as `fd`.
    std::string Name() const;
  };
  // Finds a file or folder in the roots. Errors are those of CheckName and Unreadable. If a symbolic link leads out of
  // the roots, the answer is NOT_FOUND, whether or not there is a file.
  absl::StatusOr<Found> Find(const std::string& path) const;
  // `FileId` identifies a file by device and inode. Withheld() returns the present files that no job may read. Code
  // that checks many files, such as a search by a glob, calls it once for all of them.
  using FileId = std::pair<dev_t, ino_t>;
  std::vector<FileId> Withheld() const;
  // Returns the error for a job that tries to read a file of Rekindle's own.
  static absl::Status RefuseOwn(const std::string& path);
  // Opens a regular file in the roots for reading. Errors are those of Find, INVALID_ARGUMENT if the path is not a
  // regular file, and PERMISSION_DENIED if it is Rekindle's own.
  absl::StatusOr<common::UniqueFd> Open(const std::string& path) const;

 private:
  bool HasAll() const;
  // Returns the path, with the symbolic links of its root resolved.
  absl::StatusOr<std::string> Below(const std::string& path) const;
  bool IsInside(const std::string& real) const;
  bool IsOwn(const std::string& real, const struct stat& info) const;

  std::vector<std::string> roots_;
  std::vector<std::string> withheld_;
};

// Returns the error for a path that cannot be read. It is NOT_FOUND, PERMISSION_DENIED or FAILED_PRECONDITION,
// depending on the errno in `error`.
absl::Status Unreadable(const std::string& path, int error);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_FILES_DATA_ROOTS_H_
