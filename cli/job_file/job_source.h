// Reads the text of a job file from a file, a pipe or standard input.
#ifndef REKINDLE_CLI_JOB_FILE_JOB_SOURCE_H_
#define REKINDLE_CLI_JOB_FILE_JOB_SOURCE_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::cli {

struct JobSource {
  // `name` is the name in errors: the path, or "stdin".
  std::string name;
  // `text` has at most common::kMaxYamlBytes.
  std::string text;
  // Relative paths in the text are relative to `folder`, which is absolute.
  std::filesystem::path folder;
};

// Reads `path`, which is a file, a pipe or the like, or "-" for standard input, to its end. If the source has no
// folder, paths in it are relative to the current folder. Errors name the path. They are NOT_FOUND and others of the
// system, and OUT_OF_RANGE if it is too large.
absl::StatusOr<JobSource> ReadJobSource(const std::string& path);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_JOB_SOURCE_H_
