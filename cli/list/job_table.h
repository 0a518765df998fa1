// Which jobs `rekindle jobs` lists, in which order, and what it says of each.
#ifndef REKINDLE_CLI_LIST_JOB_TABLE_H_
#define REKINDLE_CLI_LIST_JOB_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/list/fitted_table.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// The states that such a name stands for: one of JobStateNames().
std::vector<v1::JobState> StatesNamed(const std::string& name);

// "active" (not over) and "over", then the states, in lower case.
std::vector<std::string> JobStateNames();

// Seconds until its last step is made, at the present speed; nothing where it does not run or no step was timed.
std::optional<double> SecondsLeft(const v1::Job& job);

// By what jobs can be sorted.
std::vector<std::string> JobOrders();

// What is kept of a job for the table: a job with its curves is a hundred times as large.
struct JobRow {
  std::vector<std::string> cells;
  std::string name;
  std::string state;
  std::string team;
  double submitted_at = 0;
  double left = 0;  // Infinite: not known.
  int priority = 0;
  double spent = 0;
};
JobRow RowOf(const v1::Job& job, double unix_now);

// `order` is one of JobOrders(); equal ones stay as they are.
void SortJobs(const std::string& order, std::vector<JobRow>* rows);

FittedTable JobTable(std::vector<JobRow> rows);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_LIST_JOB_TABLE_H_
