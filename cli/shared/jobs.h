// Provides what the verbs that read many jobs share.
#ifndef REKINDLE_CLI_SHARED_JOBS_H_
#define REKINDLE_CLI_SHARED_JOBS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/shared/context.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::cli {

// A verb reads the list of jobs in pages of `kPageSize` jobs. The coordinator shortens a page that would be too long
// for a message.
inline constexpr int kPageSize = 1000;

// Calls `take` for each job that the request asks for, in order of submission. It reads one page at a time.
absl::Status ForEachJob(Context& context, v1::ListJobsRequest request, const std::function<void(v1::Job)>& take);
// Returns all jobs, in brief: without what ListJobsRequest.brief leaves out.
absl::StatusOr<v1::ListJobsReply> ListAllJobs(Context& context);
absl::StatusOr<v1::Job> FindJob(Context& context, const std::string& name_or_uid);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SHARED_JOBS_H_
