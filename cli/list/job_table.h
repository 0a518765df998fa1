// Decides which jobs `rekindle jobs` lists, in which order, and what it prints for each.
#ifndef REKINDLE_CLI_LIST_JOB_TABLE_H_
#define REKINDLE_CLI_LIST_JOB_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/list/fitted_table.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Returns the states of jobs for which a name of JobStateNames() stands.
std::vector<v1::JobState> StatesNamed(const std::string& name);

// Returns the names that select jobs by state: "active" (not over) and "over", then the states, in lower case.
std::vector<std::string> JobStateNames();

// Returns the seconds until the job's last step is done, at the present speed. Returns nothing if the job does not run
// or no step was timed.
std::optional<double> SecondsLeft(const v1::Job& job);

// Returns the names of the orders in which jobs can be sorted.
std::vector<std::string> JobOrders();

// Holds what the table of jobs needs of one job. A whole job with its loss curves would take a hundred times the
// memory.
struct JobRow {
  std::vector<std::string> cells;
  std::string name;
  std::string state;
  std::string team;
  double submitted_at = 0;
  // `left` is the number of seconds until the job's last step is done. It is infinite if that is not known.
  double left = 0;
  int priority = 0;
  double spent = 0;
};
JobRow RowOf(const v1::Job& job, double unix_now);

// Sorts the rows. `order` is one of JobOrders(). Rows that compare equal keep their order.
void SortJobs(const std::string& order, std::vector<JobRow>* rows);

FittedTable JobTable(std::vector<JobRow> rows);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_LIST_JOB_TABLE_H_
