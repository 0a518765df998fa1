// Which of this machine's files a job may read: those in folders that the operator lists, and never what Rekindle
// itself lives on, whatever the list says. Links are followed first: what counts is where a file is, not what it is
// called.
#ifndef REKINDLE_WORKER_DATA_DATA_ROOTS_H_
#define REKINDLE_WORKER_DATA_DATA_ROOTS_H_

#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::data {

// Immutable, copyable, thread-safe.
class DataRoots {
 public:
  // Where a node's jobs read when nothing else is said.
  static constexpr char kUsual[] = "/var/lib/rekindle/data";

  // Whatever this process's user may read.
  DataRoots() : DataRoots({"/"}, {}) {}
  // `roots`: absolute folders, also ones that are not there yet. `withheld`: files that no job reads, under whatever
  // name; empty ones count for nothing.
  DataRoots(std::vector<std::string> roots, std::vector<std::string> withheld);
  // INVALID_ARGUMENT names the root that is not absolute.
  static absl::Status CheckRoots(const std::vector<std::string>& roots);

  // Whether a root has what is called so. PERMISSION_DENIED names the roots. Looks at no file.
  absl::Status CheckName(const std::string& path) const;

  // A file or folder in the roots, by a descriptor that is for looking at it (O_PATH).
  struct Found {
    common::UniqueFd fd;
    struct stat info = {};
    bool own = false;  // Rekindle's: a key, a token, or its state. No job reads it.
    std::string Name()
        const;  // The name by which it is opened, without a look at its path again; valid as long as `fd`.
  };
  // Errors: of CheckName, and of Unreadable. Where a link leads out of the roots the answer is NOT_FOUND, whatever is
  // there.
  absl::StatusOr<Found> Find(const std::string& path) const;
  // The files that are withheld, as they are now: for many files in a folder that was found.
  using FileId = std::pair<dev_t, ino_t>;
  std::vector<FileId> Withheld() const;
  // Why a job may not read what is Rekindle's own.
  static absl::Status RefuseOwn(const std::string& path);
  // A regular file, for reading. Errors as Find; INVALID_ARGUMENT: it is none; PERMISSION_DENIED: Rekindle's own.
  absl::StatusOr<common::UniqueFd> Open(const std::string& path) const;

 private:
  bool HasAll() const;
  // Where the path leads, without links before the root.
  absl::StatusOr<std::string> Below(const std::string& path) const;
  bool IsInside(const std::string& real) const;
  bool IsOwn(const std::string& real, const struct stat& info) const;

  std::vector<std::string> roots_;
  std::vector<std::string> withheld_;
};

// NOT_FOUND, PERMISSION_DENIED or FAILED_PRECONDITION, by errno.
absl::Status Unreadable(const std::string& path, int error);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_DATA_ROOTS_H_
