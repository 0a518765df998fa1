// Finds the files that a job's `data.text` (or another kind of data) names.
//
// An entry is a path or a glob: `*`, `?` and `[...]` within one folder's names, `**` for any number of folders
// (symbolic links to folders are not followed there). Names that begin with a dot match only a pattern that does.
#ifndef REKINDLE_WORKER_DATA_TEXT_FILES_H_
#define REKINDLE_WORKER_DATA_TEXT_FILES_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/data_roots.h"

namespace rekindle::data {

// A regular file as it was when found. Size and times tell whether it has changed since.
struct TextFile {
  std::string path;
  int64_t size = 0;         // Bytes.
  int64_t modified_ns = 0;  // Nanoseconds since 1970.
  int64_t changed_ns = 0;

  bool operator==(const TextFile&) const = default;
};

// How much is looked at before it is given up: globs through links and many `**` can lead to more than any disk has.
struct LookLimits {
  int64_t names = 10'000'000;
  int64_t folders = 1'000'000;  // Each as often as another rest of a glob is matched below it.
  double seconds = std::numeric_limits<double>::infinity();
};

// All files of all entries that are in `roots`, sorted by the bytes of their paths, each once.
// Errors, each naming the entry or file: INVALID_ARGUMENT (no entries, an empty entry, not a regular file, an empty
// file that is named itself, all files empty), NOT_FOUND (missing file, glob without match), PERMISSION_DENIED (outside
// of the roots, Rekindle's own, unreadable) and FAILED_PRECONDITION (unreadable, with the system's reason),
// RESOURCE_EXHAUSTED (over a million files, or the limits).
// In globs, what is not a regular file is passed over, as are links that lead nowhere in the roots and what is
// Rekindle's own; an unreadable one is an error, since leaving it out would silently change the data.
absl::StatusOr<std::vector<TextFile>> FindTextFiles(const std::vector<std::string>& entries,
                                                    const DataRoots& roots = {}, const LookLimits& limits = {});

// The folder of a glob, as far as it is written out; of what is no glob, all of it.
std::string FixedPart(const std::string& entry);

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_TEXT_FILES_H_
