// What the verbs that look at many jobs share.
#ifndef REKINDLE_CLI_JOBS_H_
#define REKINDLE_CLI_JOBS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/context.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::cli {

inline constexpr int kPageSize =
    1000;  // Entries of a list at a time. The coordinator cuts what would be too long for a message.

// Those that the request asks for, one after the other in order of submission, a page at a time.
absl::Status ForEachJob(Context& context, v1::ListJobsRequest request, const std::function<void(v1::Job)>& take);
// All of them, in brief.
absl::StatusOr<v1::ListJobsReply> ListAllJobs(Context& context);
absl::StatusOr<v1::Job> FindJob(Context& context, const std::string& name_or_uid);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_JOBS_H_
