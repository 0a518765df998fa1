// The text of a job file, from wherever it is named.
#ifndef REKINDLE_CLI_JOB_FILE_SOURCE_H_
#define REKINDLE_CLI_JOB_FILE_SOURCE_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::cli {

struct Source {
  std::string name;              // What errors call it: the path, or "stdin".
  std::string text;              // At most common::kMaxYamlBytes.
  std::filesystem::path folder;  // What relative paths in it are relative to; absolute.
};

// `path`: a file, a pipe or the like, or "-" for standard input, which is read to its end. Paths in what has no folder
// are relative to the present one. Errors name the path: NOT_FOUND and the system's others; OUT_OF_RANGE: it is too
// large.
absl::StatusOr<Source> ReadSource(const std::string& path);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_SOURCE_H_
