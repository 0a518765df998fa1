// Finds what is wrong in a job file, with a coordinator or without one.
#ifndef REKINDLE_CLI_JOB_FILE_CHECK_H_
#define REKINDLE_CLI_JOB_FILE_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/context.h"
#include "cli/job_file/job_file.h"
#include "coordinator/spec/job_checks.h"

namespace rekindle::cli {

// Asks the coordinator about each job of the file. Its jobs with every default filled in, in their order; digests of
// weights are filled in in the file. INVALID_ARGUMENT: all that is wrong, by line. Other errors: it could not be asked.
absl::StatusOr<std::vector<v1::Job>> Validate(Context& context, JobFile* file);

// Makes the checks that need no coordinator. INVALID_ARGUMENT: as above.
absl::Status ValidateOffline(const JobFile& file);

// Is that check among them?
bool IsRunOffline(const coordinator::JobCheck& check);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_CHECK_H_
