// What the verbs that look at many jobs share.
#ifndef REKINDLE_CLI_JOBS_H_
#define REKINDLE_CLI_JOBS_H_

#include "absl/status/statusor.h"
#include "cli/context.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::cli {

// All pages of them, in order of submission.
absl::StatusOr<v1::ListJobsReply> ListAllJobs(Context& context);
absl::StatusOr<v1::Job> FindJob(Context& context, const std::string& name_or_uid);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOBS_H_
