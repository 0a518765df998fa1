// Makes the web page's list of jobs, and sums over all jobs.
#ifndef REKINDLE_COORDINATOR_WEB_VIEWS_JOB_ROWS_H_
#define REKINDLE_COORDINATOR_WEB_VIEWS_JOB_ROWS_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/web/parts/list_query.h"
#include "coordinator/web/parts/source.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator::web {

// An answer lists at most `kMostTeams` teams.
inline constexpr size_t kMostTeams = 200;

// Returns the words by which the list of jobs can be sorted. The newest jobs come first when the list is sorted by
// "submitted" in descending order.
const std::vector<std::string>& JobSorts();

// Returns the list of jobs as {"matching", "all", "jobs": [{"members", "job"}]}. Each job has what a line of the list
// shows, without its curves, faults, members and spec.
std::string JobListJson(const std::vector<JobPointer>& jobs, const ListQuery& query);

struct JobTotals {
  // The keys of `states` are the names of states, and the values are the numbers of jobs in them.
  std::map<std::string, int> states;
  // `rate` is what all jobs together cost per hour.
  double rate = 0;
  std::string currency;
  // `teams` has at most kMostTeams teams, sorted by name. Jobs without a team are left out.
  std::vector<std::string> teams;
};
JobTotals TotalsOf(const std::vector<JobPointer>& jobs);

// Returns what teams cost as {"all", "teams": [{"team", "jobs", "active", "total": Cost}]}. It has the teams with the
// highest costs, in descending order.
std::string TeamsJson(const std::vector<JobPointer>& jobs);

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_VIEWS_JOB_ROWS_H_
