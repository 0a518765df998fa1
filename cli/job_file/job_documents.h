// Reads a job file as the jobs that it describes. Each YAML document is one job.
#ifndef REKINDLE_CLI_JOB_FILE_JOB_DOCUMENTS_H_
#define REKINDLE_CLI_JOB_FILE_JOB_DOCUMENTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/job_file/overrides.h"
#include "common/spec/yaml.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct JobDocument {
  // `job` has absolute paths, and the values of --set.
  v1::Job job;
  // `line` is the line at which the document begins.
  int line = 1;
  // `lines` maps the path of each field that the file gives to its line.
  std::map<std::string, int> lines;
  // `flags` maps the path of a field to the flag that gives it.
  std::map<std::string, std::string> flags;
  // `unread` lists what could not be read. If it is not empty, the job is not what its user meant. Line 0 stands for a
  // flag, which the sentence names.
  std::vector<common::YamlProblem> unread;
  // `unread_left_out` is the number of further problems, which `unread` does not list.
  size_t unread_left_out = 0;
};

struct JobDocuments {
  // `source` is the name of the file in errors.
  std::string source;
  // `documents` has at least one document.
  std::vector<JobDocument> documents;
};

// Reads a job file. `path` has the meaning that it has for ReadJobSource. Relative paths in a file are relative to the
// file, and those of --set to the current folder. Returns ReadJobSource's errors, and INVALID_ARGUMENT if the text is
// not YAML, is empty or has too many documents.
absl::StatusOr<JobDocuments> ReadJobDocuments(const std::string& path, const std::vector<Override>& overrides = {});

// Returns the only job of a file, for callers that accept no more. INVALID_ARGUMENT says that the file has several or
// could not be read, and lists everything that is wrong in its form, by line.
absl::StatusOr<v1::Job> ReadOneJob(const std::string& path);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_JOB_DOCUMENTS_H_
