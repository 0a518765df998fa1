// Implements the verb simulate, which computes what a job would cost on a fleet and when it would be done, before it is
// submitted. It needs no coordinator.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/job_file/one_job.h"
#include "cli/shared/context.h"
#include "cli/simulation/simulation.h"
#include "cli/text/number_text.h"
#include "cli/text/plain_table.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"
#include "coordinator/fleet/simulator/compare.h"
#include "coordinator/fleet/simulator/reachable.h"
#include "coordinator/fleet/simulator/synthetic.h"
#include "coordinator/fleet/simulator/trace_world.h"

namespace rekindle::cli {
namespace {

using nlohmann::json;

constexpr size_t kTimelineShown = 40;

struct Flags {
  std::string job;
  SimulationFlags simulation;
  std::vector<std::string> policies;
};

json ToJson(const fleet::PolicyOutcome& of, bool timeline) {
  const fleet::Outcome& o = of.outcome;
  if (!of.left_out.empty()) return {{"policy", of.policy}, {"left_out", of.left_out}};
  json out = {{"policy", of.policy}, {"finished", o.finished}, {"missed_deadline", o.missed}, {"cost", o.cost}};
  if (of.policy == "optimum") return out;
  out.update({{"finish_hours", o.finish_hours},
              {"useful_node_hours", o.useful_hours},
              {"lost_node_hours", o.start_hours},
              {"spot_node_hours", o.spot_hours},
              {"on_demand_node_hours", o.on_demand_hours},
              {"interruptions", o.interruptions},
              {"starts", o.starts},
              {"over_budget", o.over_budget},
              {"kg_co2", o.grams / 1000},
              {"kg_co2_unknown_node_hours", o.unknown_carbon_hours}});
  if (of.needs > 0) out["needs_budget"] = of.needs;
  if (!timeline) return out;
  for (const fleet::Moment& moment : o.timeline)
    out["timeline"].push_back({{"hours", moment.hours}, {"what", moment.text}});
  return out;
}

std::string Note(const fleet::PolicyOutcome& of) {
  const fleet::Outcome& o = of.outcome;
  if (!of.left_out.empty()) return of.meaning + "; left out: " + of.left_out;
  std::string note = of.meaning;
  if (of.policy == "optimum") return note;
  if (!o.finished) {
    note += "; does not finish";
  } else if (o.missed) {
    note += "; misses the deadline";
  }
  if (of.needs > 0) note += " within the budget, without which it costs " + Fixed(of.needs, 2);
  if (o.over_budget > 0) note += "; crosses the budget by " + Fixed(o.over_budget, 2);
  return note;
}

std::string KgCo2(const fleet::Outcome& o) {
  if (o.unknown_carbon_hours <= 0) return Fixed(o.grams / 1000, 1);
  return o.grams > 0 ? "at least " + Fixed(o.grams / 1000, 1) : "-";
}

void PrintTimeline(const fleet::Outcome& outcome) {
  const size_t shown = std::min(kTimelineShown, outcome.timeline.size());
  for (size_t i = 0; i < shown; ++i) {
    const fleet::Moment& moment = outcome.timeline[i];
    std::cout << "  " << Fixed(moment.hours, 2) << " h  " << Printable(moment.text) << "\n";
  }
  if (shown < outcome.timeline.size()) {
    std::cout << "  ... " << outcome.timeline.size() - shown << " more; -o json has all\n";
  }
}

void PrintText(const std::vector<fleet::PolicyOutcome>& outcomes, const std::vector<std::string>& caveats) {
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "COST", "DONE AFTER", "USEFUL", "LOST", "INTERRUPTIONS", "KG CO2", ""}};
  for (const fleet::PolicyOutcome& of : outcomes) {
    const fleet::Outcome& o = of.outcome;
    if (!of.left_out.empty() || of.policy == "optimum") {
      const std::string cost = of.left_out.empty() ? Fixed(o.cost, 2) : "-";
      rows.push_back({of.policy, cost, "-", "-", "-", "-", "-", Printable(Note(of))});
      continue;
    }
    rows.push_back({of.policy, Fixed(o.cost, 2), o.finished ? Fixed(o.finish_hours, 1) + " h" : "-",
                    Fixed(o.useful_hours, 1) + " h", Fixed(o.start_hours, 1) + " h", std::to_string(o.interruptions),
                    KgCo2(o), Note(of)});
  }
  std::cout << Table(rows) << "\n";
  for (const std::string& caveat : caveats) std::cout << "  note: " << Printable(caveat) << "\n";
  PrintTimeline(outcomes.front().outcome);
}

absl::Status Simulate(const Flags& flags, bool as_json) {
  const auto job = ReadOneJob(flags.job);
  if (!job.ok()) return job.status();
  const auto simulation = ReadSimulation(job->spec(), flags.job, flags.simulation);
  if (!simulation.ok()) return simulation.status();
  const auto world = fleet::MakeWorld(simulation->fleet, simulation->traces, simulation->node_watts);
  if (!world.ok()) return world.status();
  if (absl::Status status = fleet::CheckReachable(*world, simulation->job); !status.ok()) return status;
  const auto outcomes = fleet::Compare(*world, simulation->job, flags.policies);
  if (!outcomes.ok()) return outcomes.status();
  const std::vector<std::string> caveats = fleet::Caveats(*world, simulation->job);
  if (!as_json) {
    PrintText(*outcomes, caveats);
    return absl::OkStatus();
  }
  json out = {{"job", job->name()}, {"policies", json::array()}, {"notes", caveats}};
  for (size_t i = 0; i < outcomes->size(); ++i) out["policies"].push_back(ToJson((*outcomes)[i], i == 0));
  std::cout << out.dump(1) << "\n";
  return absl::OkStatus();
}

// A synthetic trace has at most `kMaxSyntheticCells` cells, one for each zone and time step. So many cells make a file
// of about 60 MB.
constexpr double kMaxSyntheticCells = 5e6;

absl::Status PrintSynthetic(const fleet::SyntheticOptions& options) {
  if (options.zones * options.hours * 3600 / options.step_seconds > kMaxSyntheticCells) {
    return absl::InvalidArgumentError("so many zones and hours make a trace that is too long: choose a longer --step");
  }
  std::cout << fleet::TraceText(fleet::SyntheticTrace(options));
  return absl::OkStatus();
}

}  // namespace

void AddSimulateVerb(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("simulate", "What a job would cost on a fleet, over traces");
  verb->add_option("--job", flags->job, "Job file with spec.goals and spec.estimate (docs/fleet.md)")
      ->required()
      ->type_name("FILE");
  AddSimulationFlags(verb, &flags->simulation)->required();
  verb->add_option("--policy", flags->policies, "Only this one. Default: all, side by side");
  context.OnRun(verb, [flags, &context] { return Simulate(*flags, context.json()); });

  auto options = std::make_shared<fleet::SyntheticOptions>();
  CLI::App* make = app.add_subcommand("synthetic-trace", "Print a made-up capacity trace, the same for a seed");
  make->add_option("--seed", options->seed, "Of the random numbers")
      ->check(common::WholeNumber(0))
      ->capture_default_str();
  make->add_option("--zones", options->zones, "Columns")->check(common::WholeNumber(1, 100))->capture_default_str();
  make->add_option("--nodes", options->nodes, "The most of a zone")
      ->check(common::WholeNumber(1, 10000))
      ->capture_default_str();
  make->add_option("--hours", options->hours, "How long it is")
      ->check(common::NumberFrom(1, 1e5))
      ->capture_default_str();
  make->add_option("--step", options->step_seconds, "Seconds of a tick")
      ->check(common::NumberFrom(1, 3600))
      ->capture_default_str();
  make->add_option("--price", options->price, "Of a node and hour, on average")
      ->check(common::NumberFrom(0.001, 1e6))
      ->capture_default_str();
  context.OnRun(make, [options] { return PrintSynthetic(*options); });
}

}  // namespace rekindle::cli
