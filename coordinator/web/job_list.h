// The list of jobs, and what is summed over all of them.
#ifndef REKINDLE_COORDINATOR_WEB_JOB_LIST_H_
#define REKINDLE_COORDINATOR_WEB_JOB_LIST_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/web/list_query.h"
#include "coordinator/web/source.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator::web {

inline constexpr size_t kMostTeams = 200;  // In an answer.

// By what jobs can be sorted; the newest first are those submitted last, "down".
const std::vector<std::string>& JobSorts();

// {"matching", "all", "jobs": [{"members", "job"}]}: of each job what a line of the list shows, without its curves,
// faults, members and spec.
std::string JobListJson(const std::vector<JobPointer>& jobs, const ListQuery& query);

struct JobTotals {
  std::map<std::string, int> states;  // Jobs by the name of their state.
  double rate = 0;                    // An hour, of all jobs.
  std::string currency;
  std::vector<std::string> teams;  // At most kMostTeams, by name; without that of jobs that have none.
};
JobTotals TotalsOf(const std::vector<JobPointer>& jobs);

// {"all", "teams": [{"team", "jobs", "active", "total": Cost}]}: of all teams the dearest, these first.
std::string TeamsJson(const std::vector<JobPointer>& jobs);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_JOB_LIST_H_
