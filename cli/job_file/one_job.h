// Reads a job file that may have only one job.
#ifndef REKINDLE_CLI_JOB_FILE_ONE_JOB_H_
#define REKINDLE_CLI_JOB_FILE_ONE_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Returns the only job of a file, for callers that accept no more. INVALID_ARGUMENT says that the file has several jobs
// or could not be read, and lists everything that is wrong in its form, by line.
absl::StatusOr<v1::Job> ReadOneJob(const std::string& path);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_ONE_JOB_H_
