// Chooses which jobs the answer to a ListJobs request has, and which fields of each job.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_JOB_LIST_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_JOB_LIST_H_

#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Returns whether the job is one of those that the ListJobs request asks for.
bool IsListed(const v1::Job& job, const v1::ListJobsRequest& request);

// Returns what a row in a list of jobs needs. The rest of a job, above all its curves, would make a list of 15,000 jobs
// a hundred times larger.
v1::Job BriefOf(const v1::Job& job);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_JOB_LIST_H_
