// What the verbs that start a job share.
#ifndef REKINDLE_CLI_SUBMIT_H_
#define REKINDLE_CLI_SUBMIT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/context.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Submits it: the job as the coordinator took it in. Warns where nothing of it is kept.
absl::StatusOr<v1::Job> SendJob(Context& context, const v1::Job& job);

// Prints a job that was submitted; with `wait` shows progress until it has ended, which is an error unless it
// succeeded.
absl::Status FollowJob(Context& context, const v1::Job& submitted, bool wait);

void PrintJob(const Context& context, const v1::Job& job);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SUBMIT_H_
