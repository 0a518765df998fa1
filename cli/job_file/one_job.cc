#include "cli/job_file/one_job.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "cli/job_file/job_documents.h"
#include "cli/job_file/problems.h"

namespace rekindle::cli {

absl::StatusOr<v1::Job> ReadOneJob(const std::string& path) {
  absl::StatusOr<JobDocuments> file = ReadJobDocuments(path);
  if (!file.ok()) return file.status();
  if (file->documents.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(file->source, ":", file->documents[1].line,
                                                   ": a second job begins; ",
                                                   "one is wanted here: give it a file of its own"));
  }
  Problems problems(file->source);
  problems.AddUnread(file->documents.front());
  if (!problems.empty()) return problems.ToStatus();
  return std::move(file->documents.front().job);
}

}  // namespace rekindle::cli
