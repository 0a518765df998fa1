// Provides what the verbs that start a job share.
#ifndef REKINDLE_CLI_SUBMIT_SUBMIT_H_
#define REKINDLE_CLI_SUBMIT_SUBMIT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/shared/context.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Submits the job and returns it as the coordinator accepted it. Prints a warning if nothing of the job will be kept
// when it ends, because it saves no checkpoints in a store.
absl::StatusOr<v1::Job> SendJob(Context& context, const v1::Job& job);

// Prints a submitted job. With `wait` it shows progress until the job has ended. It is an error if the job does not
// succeed.
absl::Status FollowJob(Context& context, const v1::Job& submitted, bool wait);

void PrintJob(const Context& context, const v1::Job& job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_SUBMIT_H_
