// Finds what is wrong in a job file, with or without a coordinator.
#ifndef REKINDLE_CLI_JOB_FILE_VALIDATE_H_
#define REKINDLE_CLI_JOB_FILE_VALIDATE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/job_file/job_documents.h"
#include "cli/shared/context.h"
#include "coordinator/spec/job_checks.h"

namespace rekindle::cli {

// Asks the coordinator about each job of the file. Returns the jobs in order, with every default filled in. In `file`,
// the digests of weights are filled in, and folders of code are packed. INVALID_ARGUMENT lists all problems by line.
// Other errors say that the coordinator could not be asked.
absl::StatusOr<std::vector<v1::Job>> Validate(Context& context, JobDocuments* file);

// Makes the checks of a job file that need no coordinator. INVALID_ARGUMENT lists all problems by line.
absl::Status ValidateOffline(const JobDocuments& file);

// Returns whether ValidateOffline makes the check `check`.
bool IsRunOffline(const coordinator::JobCheck& check);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_VALIDATE_H_
