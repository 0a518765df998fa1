// Implements the verbs jobs and nodes.
#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "cli/list/job_table.h"
#include "cli/list/node_table.h"
#include "cli/shared/context.h"
#include "cli/shared/jobs.h"
#include "cli/text/json_list.h"
#include "common/spec/flag_values.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

void Print(const Context& context, const FittedTable& table) {
  std::cout << table.Text(context.wide() ? 0 : OutputColumns());
}

struct JobFlags {
  std::string team;
  std::vector<std::string> states;
  double since = 0;
  std::string order = "age";
};

absl::Status ListJobs(Context& context, const JobFlags& flags) {
  if (context.json() && flags.order != "age") {
    throw CLI::ValidationError("--sort", "goes with tables alone: JSON is in the order of submission");
  }
  const double now = common::WallSeconds();
  v1::ListJobsRequest request;
  request.set_brief(!context.json());
  request.set_team(flags.team);
  for (const std::string& name : flags.states) {
    for (const v1::JobState state : StatesNamed(name)) request.add_states(state);
  }
  if (flags.since > 0) request.set_submitted_since(now - flags.since);
  JsonList json(std::cout, "jobs");
  std::vector<JobRow> rows;
  absl::Status status = ForEachJob(context, std::move(request), [&](v1::Job job) {
    if (context.json()) {
      json.Add(ToJson(job, false));
    } else {
      rows.push_back(RowOf(job, now));
    }
  });
  if (!status.ok()) return status;
  if (context.json()) {
    json.Finish();
    return absl::OkStatus();
  }
  if (rows.empty()) {
    std::cerr << "no jobs\n";
    return absl::OkStatus();
  }
  SortJobs(flags.order, &rows);
  Print(context, JobTable(std::move(rows)));
  return absl::OkStatus();
}

void AddJobs(CLI::App& app, Context& context) {
  auto flags = std::make_shared<JobFlags>();
  CLI::App* verb = app.add_subcommand("jobs", "List jobs");
  verb->footer(
      "A terminal that is wider shows more columns; -o wide shows all and cuts nothing. ETA: until the last step is "
      "made, at the present speed.");
  verb->add_option("--team", flags->team, "Only jobs with this spec.team");
  verb->add_option("--state", flags->states, "Only jobs in this state; active: all that are not over")
      ->delimiter(',')
      ->check(common::OneOf(JobStateNames()))
      ->transform([](const std::string& state) { return absl::AsciiStrToLower(state); });
  verb->add_option("--since", flags->since, "Only jobs that were submitted within this time, as 90m, 24h or 7d")
      ->transform(common::Seconds());
  verb->add_option("--sort", flags->order, "By what; the first, the highest or the soonest on top")
      ->check(common::OneOf(JobOrders()))
      ->capture_default_str();
  context.OnRun(verb, [flags, &context] { return ListJobs(context, *flags); });
}

absl::Status ListNodes(Context& context) {
  JsonList json(std::cout, "nodes");
  std::vector<std::vector<std::string>> rows;
  v1::ListNodesRequest request;
  request.set_page_size(kPageSize);
  do {
    v1::ListNodesReply page;
    absl::Status status = context.Call(&v1::Coordinator::StubInterface::ListNodes, request, &page);
    if (!status.ok()) return status;
    for (const v1::Node& node : page.nodes()) {
      if (context.json()) {
        json.Add(ToJson(node, false));
      } else {
        rows.push_back(NodeCells(node));
      }
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (context.json()) {
    json.Finish();
  } else if (rows.empty()) {
    std::cerr << "no node has registered\n";
  } else {
    Print(context, NodeTable(rows));
  }
  return absl::OkStatus();
}

void AddNodes(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("nodes", "List nodes and what runs on them");
  verb->footer("USED: trainers that run there, of the slots that it has. -o wide shows all columns and cuts nothing.");
  context.OnRun(verb, [verb, &context]() -> absl::Status {
    // If the user names a verb below `nodes`, CLI11 runs the function of `nodes`, too. The function prints no list
    // then, because the verb below does the work.
    if (!verb->get_subcommands().empty()) return absl::OkStatus();
    return ListNodes(context);
  });
}

}  // namespace

void AddListVerbs(CLI::App& app, Context& context) {
  AddJobs(app, context);
  AddNodes(app, context);
}

}  // namespace rekindle::cli
