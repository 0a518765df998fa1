// Reads a job file as the jobs that it describes. Each YAML document is one job.
#ifndef REKINDLE_CLI_JOB_FILE_JOB_DOCUMENTS_H_
#define REKINDLE_CLI_JOB_FILE_JOB_DOCUMENTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/job_file/overrides.h"
#include "common/bundle/pack_folder.h"
#include "common/spec/yaml.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct JobDocument {
  // The paths in `job` are absolute, and the values of --set are applied.
  v1::Job job;
  // `line` is the line of the file at which the document begins.
  int line = 1;
  // `lines` maps the path of each field that the file gives to its line.
  std::map<std::string, int> lines;
  // `flags` maps the path of a field to the flag that gives it.
  std::map<std::string, std::string> flags;
  // `bundle` is the packed folder that `job` names by its address, once PrepareBundle has packed it (bundle_folder.h).
  std::shared_ptr<const common::PackedFolder> bundle;
  // `unread` lists what could not be read of the document. If it is not empty, the job is not what its user meant. Line
  // 0 stands for a flag, which the text of the problem names.
  std::vector<common::YamlProblem> unread;
  // `unread_left_out` is the number of further problems that `unread` does not list.
  size_t unread_left_out = 0;
};

struct JobDocuments {
  // `source` is the name of the job file in errors.
  std::string source;
  // `documents` has at least one document, each of which is a job.
  std::vector<JobDocument> documents;
};

// Reads a job file. `path` has the meaning that it has for ReadJobSource. Relative paths in a file are relative to the
// file, and those of --set to the current folder. Returns ReadJobSource's errors, and INVALID_ARGUMENT if the text is
// not YAML, is empty or has too many documents.
absl::StatusOr<JobDocuments> ReadJobDocuments(const std::string& path, const std::vector<Override>& overrides = {});

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_JOB_DOCUMENTS_H_
