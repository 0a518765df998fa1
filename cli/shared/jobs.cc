#include "cli/shared/jobs.h"

#include <utility>

namespace rekindle::cli {

absl::Status ForEachJob(Context& context, v1::ListJobsRequest request, const std::function<void(v1::Job)>& take) {
  request.set_page_size(kPageSize);
  do {
    v1::ListJobsReply page;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::ListJobs, request, &page);
    if (!status.ok()) return status;
    for (v1::Job& job : *page.mutable_jobs()) take(std::move(job));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

absl::StatusOr<v1::ListJobsReply> ListAllJobs(Context& context) {
  v1::ListJobsReply all;
  v1::ListJobsRequest request;
  request.set_brief(true);
  absl::Status status = ForEachJob(context, std::move(request), [&](v1::Job job) { *all.add_jobs() = std::move(job); });
  if (!status.ok()) return status;
  return all;
}

absl::StatusOr<v1::Job> FindJob(Context& context, const std::string& name_or_uid) {
  v1::GetJobRequest request;
  request.set_job(name_or_uid);
  v1::Job job;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::GetJob, request, &job);
  if (!status.ok()) return status;
  return job;
}

}  // namespace rekindle::cli
