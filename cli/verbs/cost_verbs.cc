// Implements the verbs cost and savings, which print what jobs have cost and what they have saved (docs/costs.md).
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/shared/context.h"
#include "cli/shared/jobs.h"
#include "cli/text/job_costs.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/plain_table.h"
#include "cli/text/safe_text.h"

namespace rekindle::cli {
namespace {

using nlohmann::json;

json ToObject(const v1::Job& job) {
  return {{"job", job.name()},
          {"uid", job.uid()},
          {"team", job.status().resolved_spec().team()},
          {"state", StateName(job.status().state())},
          {"step", job.status().step()},
          {"steps", job.status().resolved_spec().training().steps()},
          {"cost", json::parse(ToJson(job.status().cost()))}};
}

void PrintPools(const v1::Cost& cost) {
  std::vector<std::vector<std::string>> rows = {
      {"  POOL", "CAPACITY", "NODES NOW", "NODE-HOURS", "PRICE", "SPENT", "ON DEMAND", "KG CO2"}};
  for (const v1::PoolCost& line : cost.pools()) {
    const bool priced = line.capacity() != "unpriced";
    std::string price = "-";
    if (priced && line.price_from() > 0) {
      price = Money(line.price(), cost) + (line.stale() ? " (stale: of " + LocalTime(line.price_from()) + ")" : "");
    } else if (priced) {
      price = Money(line.price(), cost);
    }
    rows.push_back({"  " + (line.pool().empty() ? "(none named)" : Printable(line.pool())), line.capacity(),
                    Fixed(line.nodes(), 2), Fixed(line.node_hours(), 3), price,
                    priced ? Money(line.spent(), cost) : "-",
                    line.on_demand_known() ? Money(line.on_demand(), cost) : "-",
                    line.carbon_node_hours() > 0 ? Fixed(line.kg_co2(), 3) : "-"});
  }
  if (rows.size() > 1) std::cout << Table(rows);
}

// Prints the machines that were ordered for a job and never registered as nodes. The job's amounts do not include their
// cost, because the job held no node.
void PrintNeverRegistered(const v1::Cost& cost) {
  if (cost.never_registered().machines() <= 0) return;
  std::cout << "  never registered  " << DescribeNeverRegistered(cost.never_registered(), cost.currency())
            << " that were ordered for it: not in these amounts\n";
}

void PrintCost(const v1::Job& job) {
  const v1::JobStatus& s = job.status();
  const v1::Cost& cost = s.cost();
  std::cout << job.name() << "  " << StateName(s.state()) << "  step " << s.step() << " of "
            << s.resolved_spec().training().steps() << "\n";
  if (cost.until() <= 0) {
    std::cout << "  it has held no node so far\n";
    PrintNeverRegistered(cost);
    return;
  }
  std::cout << "  spent      " << Money(cost.spent(), cost) << " in " << Fixed(cost.hours(), 3) << " h, until "
            << LocalTime(cost.until()) << "\n"
            << "  rate       " << Money(cost.rate(), cost) << " an hour now\n"
            << "  forecast   " << DescribeForecast(job) << "\n"
            << "  budget     " << DescribeBudget(cost) << "\n"
            << "  on demand  " << DescribeOnDemand(cost) << "\n"
            << "  emitted    " << DescribeCarbon(cost) << "\n";
  if (cost.unpriced_node_hours() > 0) {
    std::cout << "  unpriced   " << Fixed(cost.unpriced_node_hours(), 3)
              << " node-hours, of nodes that name no pool of the fleet file: not in these amounts\n";
  }
  if (cost.unheard() > 0) {
    std::cout << "  not heard of  " << Money(cost.unheard(), cost)
              << " of what is spent: for nodes that were lost, and may have ended earlier\n";
  }
  if (cost.estimated() > 0) {
    std::cout << "  estimated  " << Money(cost.estimated(), cost)
              << " of it: at its last rate, for time of which nothing was left (`rekindle recover`)\n";
  }
  PrintNeverRegistered(cost);
  PrintPools(cost);
}

void PrintTeam(const v1::ListJobsReply& jobs) {
  std::vector<std::vector<std::string>> rows = {
      {"JOB", "STATE", "SPENT", "RATE", "FORECAST", "BUDGET", "ON DEMAND", "KG CO2"}};
  const auto add = [&rows](const std::string& name, const std::string& state, const v1::Cost& cost) {
    rows.push_back({name, state, Money(cost.spent(), cost), Money(cost.rate(), cost), ForecastRange(cost),
                    cost.budget() > 0 ? Money(cost.budget(), cost) : "-", Money(cost.on_demand(), cost),
                    cost.carbon_node_hours() > 0 ? Fixed(cost.kg_co2(), 3) : "-"});
  };
  for (const v1::Job& job : jobs.jobs()) {
    add(job.name(), StateName(job.status().state()), job.status().cost());
  }
  const v1::Cost total = TotalOf(jobs);
  add("(all)", "", total);
  std::cout << Table(rows);
  PrintNeverRegistered(total);
}

absl::Status ShowPools(Context& context) {
  v1::ListPoolsReply pools;
  const absl::Status status = context.Call(&v1::Coordinator::StubInterface::ListPools, v1::ListPoolsRequest(), &pools);
  if (!status.ok()) return status;
  if (context.json()) {
    std::cout << ToJson(pools) << "\n";
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows = {{"POOL", "NEVER REGISTERED", "OF THESE FOR NO JOB"}};
  for (const v1::ListPoolsReply::Pool& pool : pools.pools()) {
    rows.push_back({Printable(pool.name()), DescribeNeverRegistered(pool.never_registered(), pools.currency()),
                    DescribeNeverRegistered(pool.of_no_job(), pools.currency())});
  }
  if (rows.size() == 1) {
    std::cout << "No pool has taken an order so far; `rekindle cost JOB` and `--team TEAM` show what jobs cost\n";
  } else {
    std::cout << Table(rows);
  }
  return absl::OkStatus();
}

absl::Status ShowTeam(Context& context, const std::string& team) {
  absl::StatusOr<v1::ListJobsReply> all = ListAllJobs(context);
  if (!all.ok()) return all.status();
  v1::ListJobsReply jobs;
  for (v1::Job& job : *all->mutable_jobs()) {
    if (job.status().resolved_spec().team() == team) *jobs.add_jobs() = std::move(job);
  }
  if (jobs.jobs().empty()) {
    return absl::NotFoundError("no job is of team '" + team + "': jobs name theirs in spec.team");
  }
  if (!context.json()) {
    PrintTeam(jobs);
    return absl::OkStatus();
  }
  json out = {{"team", team}, {"jobs", json::array()}};
  for (const v1::Job& job : jobs.jobs()) out["jobs"].push_back(ToObject(job));
  out["total"] = json::parse(ToJson(TotalOf(jobs)));
  std::cout << out.dump(1) << "\n";
  return absl::OkStatus();
}

absl::Status ShowJob(Context& context, const std::string& name) {
  const absl::StatusOr<v1::Job> job = FindJob(context, name);
  if (!job.ok()) return job.status();
  if (context.json()) {
    std::cout << ToObject(*job).dump(1) << "\n";
  } else {
    PrintCost(*job);
  }
  return absl::OkStatus();
}

absl::Status ShowSavings(Context& context, const std::string& name) {
  const absl::StatusOr<v1::Job> job = FindJob(context, name);
  if (!job.ok()) return job.status();
  const std::vector<Saving> savings = SavingsOf(*job);
  const v1::Cost& cost = job->status().cost();
  if (context.json()) {
    json out = {{"job", job->name()}, {"currency", cost.currency()}, {"savings", json::array()}};
    for (const Saving& saving : savings) {
      out["savings"].push_back(
          {{"by", saving.by}, {"amount", saving.amount}, {"kg_co2", saving.kg_co2}, {"how", saving.how}});
    }
    std::cout << out.dump(1) << "\n";
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> rows = {{"SAVED BY", "AMOUNT", "HOW IT WAS COMPUTED"}};
  for (const Saving& saving : savings) {
    const bool carbon = saving.kg_co2 != 0;
    rows.push_back({saving.by, carbon ? KgCo2(saving.kg_co2) : Money(saving.amount, cost), Printable(saving.how)});
  }
  std::cout << Table(rows);
  return absl::OkStatus();
}

}  // namespace

void AddCostVerbs(CLI::App& app, Context& context) {
  struct Flags {
    std::string job;
    std::string team;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* cost = app.add_subcommand("cost",
                                      "What a job, or the jobs of a team, cost: spent, rate, forecast, budget; "
                                      "without either, what machines cost that never registered, by pool");
  CLI::Option* job = cost->add_option("JOB", flags->job, "Name or uid");
  cost->add_option("--team", flags->team, "All jobs with this spec.team")->excludes(job);
  context.OnRun(cost, [flags, &context]() -> absl::Status {
    if (!flags->team.empty()) return ShowTeam(context, flags->team);
    if (!flags->job.empty()) return ShowJob(context, flags->job);
    return ShowPools(context);
  });
  auto name = std::make_shared<std::string>();
  CLI::App* savings = app.add_subcommand("savings", "What a job did not cost, and how that was computed");
  savings->add_option("JOB", *name, "Name or uid")->required();
  context.OnRun(savings, [name, &context] { return ShowSavings(context, *name); });
}

}  // namespace rekindle::cli
