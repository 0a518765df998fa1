#include "cli/list/job_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/text/job_costs.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

// Returns the columns of the table of jobs, in the order of the cells that RowOf makes.
const std::vector<Column>& Columns() {
  static const auto* columns = new std::vector<Column>{
      {.head = "NAME", .least = 12},
      {.head = "STATE"},
      {.head = "STEP"},
      {.head = "LOSS", .rank = 3},
      {.head = "AGE", .rank = 1},
      {.head = "ETA", .rank = 1},
      {.head = "PRIORITY", .rank = 2},
      {.head = "TEAM", .rank = 2, .least = 8},
      {.head = "OWNER", .rank = 3, .least = 8},
      {.head = "MEMBERS", .rank = 4},
      {.head = "SPENT", .rank = 5},
      {.head = "CHECKPOINT", .rank = 6},
      {.head = "GENERATION", .rank = 7},
      {.head = "UID", .rank = 8},
      {.head = "REASON", .least = 16},
  };
  return *columns;
}

}  // namespace

std::vector<std::string> JobStateNames() {
  std::vector<std::string> names = {"active", "over"};
  for (int state = v1::PENDING; state <= v1::JobState_MAX; ++state) {
    names.push_back(absl::AsciiStrToLower(v1::JobState_Name(static_cast<v1::JobState>(state))));
  }
  return names;
}

std::vector<v1::JobState> StatesNamed(const std::string& name) {
  std::vector<v1::JobState> states;
  for (int number = v1::PENDING; number <= v1::JobState_MAX; ++number) {
    const auto state = static_cast<v1::JobState>(number);
    const std::string kind = Ended(state) ? "over" : "active";
    if (name == kind || name == absl::AsciiStrToLower(v1::JobState_Name(state))) states.push_back(state);
  }
  return states;
}

std::optional<double> SecondsLeft(const v1::Job& job) {
  const v1::JobStatus& status = job.status();
  const int steps = status.resolved_spec().training().steps() - status.step();
  if (status.state() != v1::RUNNING || status.step_seconds() <= 0 || steps < 0) return std::nullopt;
  return steps * status.step_seconds();
}

JobRow RowOf(const v1::Job& job, double unix_now) {
  const v1::JobStatus& s = job.status();
  const v1::JobSpec& spec = s.resolved_spec();
  const std::optional<double> left = SecondsLeft(job);
  JobRow row{.name = job.name(),
             .state = StateName(s.state()),
             .team = spec.team(),
             .submitted_at = s.submitted_at(),
             .left = left.value_or(std::numeric_limits<double>::infinity()),
             .priority = spec.priority(),
             .spent = s.cost().spent()};
  row.cells = {Printable(job.name()),
               row.state,
               absl::StrCat(s.step(), "/", spec.training().steps()),
               s.step() > 0 ? Fixed(s.loss(), 4) : "",
               s.submitted_at() > 0 ? Span(unix_now - s.submitted_at()) : "",
               left ? Span(*left) : "",
               row.priority == 0 ? "" : std::to_string(row.priority),
               Printable(row.team),
               Printable(s.owner()),
               s.members_size() == 0 ? "" : std::to_string(s.members_size()),
               s.cost().spent() > 0 ? Money(s.cost().spent(), s.cost()) : "",
               s.checkpoint_step() < 0 ? "" : std::to_string(s.checkpoint_step()),
               std::to_string(s.generation()),
               job.uid(),
               Printable(s.reason())};
  return row;
}

std::vector<std::string> JobOrders() { return {"age", "name", "state", "team", "priority", "eta", "spent"}; }

void SortJobs(const std::string& order, std::vector<JobRow>* rows) {
  const auto by = [&](const auto& key) {
    std::stable_sort(rows->begin(), rows->end(), [&](const JobRow& a, const JobRow& b) { return key(a) < key(b); });
  };
  if (order == "age") by([](const JobRow& row) { return row.submitted_at; });
  if (order == "name") by([](const JobRow& row) { return row.name; });
  if (order == "state") by([](const JobRow& row) { return row.state; });
  if (order == "team") by([](const JobRow& row) { return row.team; });
  if (order == "priority") by([](const JobRow& row) { return -row.priority; });
  if (order == "eta") by([](const JobRow& row) { return row.left; });
  if (order == "spent") by([](const JobRow& row) { return -row.spent; });
}

FittedTable JobTable(std::vector<JobRow> rows) {
  FittedTable table(Columns());
  for (JobRow& row : rows) table.Add(std::move(row.cells));
  return table;
}

}  // namespace rekindle::cli
