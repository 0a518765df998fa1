#include "cli/jobs.h"

#include <utility>

namespace rekindle::cli {

absl::StatusOr<v1::ListJobsReply> ListAllJobs(Context& context) {
  v1::ListJobsReply all;
  v1::ListJobsRequest request;
  do {
    v1::ListJobsReply page;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::ListJobs, request, &page);
    if (!status.ok()) return status;
    for (v1::Job& job : *page.mutable_jobs()) *all.add_jobs() = std::move(job);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
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
