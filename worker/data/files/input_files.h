// Finds the files that a job's `data.text` (or another kind of data) names.
//
// An entry is a path or a glob. `*`, `?` and `[...]` match within the names of one folder. `**` matches any number of
// folders, but does not follow symbolic links to folders. Names that begin with a dot match only a pattern that begins
// with a dot.
#ifndef REKINDLE_WORKER_DATA_FILES_INPUT_FILES_H_
#define REKINDLE_WORKER_DATA_FILES_INPUT_FILES_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/files/data_roots.h"

namespace rekindle::data {

// `InputFile` is a regular file as it was when it was found. Size and times tell whether it has changed since.
struct InputFile {
  std::string path;
  int64_t size = 0;         // The file has `size` bytes.
  int64_t modified_ns = 0;  // `modified_ns` and `changed_ns` are in nanoseconds since 1970.
  int64_t changed_ns = 0;

  bool operator==(const InputFile&) const = default;
};

// `SearchLimits` limits the search, because globs through links and many `**` can lead to more names than any disk has.
struct SearchLimits {
  int64_t names = 10'000'000;
  // `folders` limits the visits of folders. A folder in which several parts of a glob are matched is visited, and
  // counts, once for each of these parts.
  int64_t folders = 1'000'000;
  double seconds = std::numeric_limits<double>::infinity();
};

// Returns all files of all entries of a job's list, sorted by the bytes of their paths, each once. The files must be in
// `roots`.
//
// Each error names the entry or file. INVALID_ARGUMENT means no entries, an empty entry, not a regular file, an empty
// file whose path is an entry, or that all files are empty. NOT_FOUND means a missing file or a glob without a match.
// PERMISSION_DENIED means a file outside of the roots, a file of Rekindle's own, or one that this user may not read.
// FAILED_PRECONDITION means a file that cannot be read, and gives the system's reason. RESOURCE_EXHAUSTED means over a
// million files, or that a limit was reached.
//
// Globs leave out what is not a regular file, symbolic links that lead to no file in the roots, and files of Rekindle's
// own. An unreadable file is an error, since leaving it out would silently change the data.
absl::StatusOr<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& entries,
                                                      const DataRoots& roots = {}, const SearchLimits& limits = {});

// Returns the folder of a glob, up to its first part with a pattern. Returns the whole entry if it is not a glob.
std::string FixedPart(const std::string& entry);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_FILES_INPUT_FILES_H_
