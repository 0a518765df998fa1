// Packs the folder that a job names as its bundle, so that it can be sent to the coordinator.
#ifndef REKINDLE_CLI_JOB_FILE_BUNDLE_FOLDER_H_
#define REKINDLE_CLI_JOB_FILE_BUNDLE_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "cli/job_file/job_documents.h"

namespace rekindle::cli {

// Stands for the address of a bundle that could not be packed, while the job's other fields are checked.
inline constexpr char kAddressToCome[] = "0000000000000000000000000000000000000000000000000000000000000000";

// Returns the folder that the job names as its bundle. It is empty if it names none, or an address.
std::string BundleFolderOf(const v1::Job& job);

// Packs the folder that the job names as its bundle, and names the bundle by its address in the job from then on.
// Returns OK for a job without such a folder. INVALID_ARGUMENT says what is wrong with the folder, and begins with the
// field's name.
absl::Status PrepareBundle(JobDocument* document);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOB_FILE_BUNDLE_FOLDER_H_
