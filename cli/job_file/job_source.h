// Reads the text of a job file from a file, a pipe or standard input.
#ifndef REKINDLE_CLI_JOB_FILE_JOB_SOURCE_H_
#define REKINDLE_CLI_JOB_FILE_JOB_SOURCE_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::cli {

struct JobSource {
  // `name` is the name of the job file in errors: the path, or "stdin".
  std::string name;
  // `text` has at most common::kMaxYamlBytes bytes.
  std::string text;
  // Relative paths in the text are relative to `folder`, which is absolute.
  std::filesystem::path folder;
};

// Reads `path`, which is a file, a pipe or the like, or "-" for standard input, to its end. If what is read is in no
// folder, paths in it are relative to the current folder. Errors name the path. They are NOT_FOUND and others of the
// system, and OUT_OF_RANGE if the text is too large.
absl::StatusOr<JobSource> ReadJobSource(const std::string& path);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_JOB_SOURCE_H_
