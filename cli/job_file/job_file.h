// A job file as the jobs that it describes: one a YAML document.
#ifndef REKINDLE_CLI_JOB_FILE_JOB_FILE_H_
#define REKINDLE_CLI_JOB_FILE_JOB_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/job_file/overrides.h"
#include "common/spec/yaml.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct JobDocument {
  v1::Job job;                               // With absolute paths, and what --set says.
  int line = 1;                              // At which it begins.
  std::map<std::string, int> lines;          // The line of each field that the file gives, by its path.
  std::map<std::string, std::string> flags;  // The flag that gives a field, by the field's path.
  // What could not be read; with it the job is not what its user meant. Line 0: of a flag, which the sentence names.
  std::vector<common::YamlProblem> unread;
  size_t unread_left_out = 0;  // There is more of that.
};

struct JobFile {
  std::string source;                  // What errors call it.
  std::vector<JobDocument> documents;  // At least one.
};

// `path` as ReadSource. Relative paths in a file are relative to the file, those of --set to the present folder.
// Errors: ReadSource's; INVALID_ARGUMENT: the text is no YAML, is empty or has too many documents.
absl::StatusOr<JobFile> ReadJobFile(const std::string& path, const std::vector<Override>& overrides = {});

// The one job of a file, for those who take no more. INVALID_ARGUMENT: it has several, or could not be read; all that
// is wrong in its form, by line.
absl::StatusOr<v1::Job> ReadOneJob(const std::string& path);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_JOB_FILE_H_
