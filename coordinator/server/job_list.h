// Jobs as lists show them: which ones were asked for, and what of each.
#ifndef REKINDLE_COORDINATOR_SERVER_JOB_LIST_H_
#define REKINDLE_COORDINATOR_SERVER_JOB_LIST_H_

#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Whether the job is one of those that the request asks for.
bool IsListed(const v1::Job& job, const v1::ListJobsRequest& request);

// What a row of a list needs. Of 15,000 jobs the rest, curves above all, is a hundred times as much.
v1::Job BriefOf(const v1::Job& job);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_JOB_LIST_H_
