#include "cli/simulation/submit_estimate.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/shared/jobs.h"
#include "cli/text/number_text.h"
#include "cli/text/plain_table.h"
#include "cli/text/safe_text.h"
#include "common/spec/flag_values.h"
#include "coordinator/fleet/simulator/trace_world.h"

namespace rekindle::cli {
namespace {

using nlohmann::json;
using scheduler::kNever;

constexpr int kStarts = 12;
constexpr int kSeeds = 8;

// Returns the text of an estimated amount, with its median and its range: "52.10 (48.00 to 60.30) h". If all values are
// equal, the text has one figure.
std::string Words(const fleet::Spread& spread, int digits, const std::string& unit = "") {
  const std::string low = Fixed(spread.low, digits);
  const std::string high = Fixed(spread.high, digits);
  const std::string middle = Fixed(spread.middle, digits);
  return (low == high ? middle : middle + " (" + low + " to " + high + ")") + unit;
}

json ToJson(const fleet::Spread& spread) {
  return {{"low", spread.low}, {"median", spread.middle}, {"high", spread.high}};
}

std::string In(int count, int of) { return count == of ? "all" : std::to_string(count) + " of " + std::to_string(of); }

std::string Kept(const EstimateReport& report, const fleet::Estimate& e) {
  std::string text = e.policy + ": done in " + In(e.worlds - e.unfinished, e.worlds);
  if (report.deadline < kNever) {
    text += ", by the deadline of " + Fixed(report.deadline, 1) + " h in " + In(e.worlds - e.missed, e.worlds);
  }
  if (report.budget < kNever) {
    text += ", within the budget of " + Fixed(report.budget, 2) + " in " +
            In(e.worlds - std::max(e.over_budget, e.unfinished), e.worlds);
  }
  if (e.needs.high > 0) text += "; where that ends the job, it would take " + Words(e.needs, 2);
  return text;
}

// Returns a text like "; costs 69.8 % less than on_demand", which compares the median costs of the first and the last
// policy. It is empty if the first policy costs nothing or is not cheaper.
std::string Less(const std::vector<fleet::Estimate>& estimates) {
  const double first = estimates.front().cost.middle;
  const double last = estimates.back().cost.middle;
  if (first <= 0 || last <= first) return "";
  return "; costs " + Fixed(100 * (1 - first / last), 1) + " % less than " + estimates.back().policy;
}

absl::StatusOr<std::vector<fleet::World>> Worlds(const Simulation& simulation, uint64_t seed, std::string* source) {
  const bool capacity = std::any_of(simulation.traces.begin(), simulation.traces.end(),
                                    [](const fleet::Trace& trace) { return !trace.zones.empty(); });
  if (!capacity) {
    *source = "made-up spot capacity, as no --trace tells it: seeds " + std::to_string(seed) + " to " +
              std::to_string(seed + kSeeds - 1);
    return fleet::SyntheticWorlds(simulation.fleet, simulation.job, simulation.traces, simulation.node_watts, seed,
                                  kSeeds);
  }
  const auto world = fleet::MakeWorld(simulation.fleet, simulation.traces, simulation.node_watts);
  if (!world.ok()) return world.status();
  auto worlds = fleet::FromSeveralStarts(*world, simulation.job, kStarts);
  *source = worlds.size() == 1 ? "the traces, from their beginning"
                               : "the traces, from " + std::to_string(worlds.size()) + " moments on";
  return worlds;
}

absl::StatusOr<bool> Ask(const EstimateFlags& flags) {
  if (flags.yes) return true;
  if (isatty(STDIN_FILENO) == 0) {
    std::cerr << "rekindle: nothing was submitted: there is no terminal to ask on; --yes submits without asking\n";
    return false;
  }
  std::cerr << "Submit it? [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  return absl::AbortedError("nothing was submitted");
}

}  // namespace

void AddEstimateFlags(CLI::App* verb, EstimateFlags* flags) {
  CLI::Option* wanted =
      verb->add_flag("--estimate", flags->wanted, "First print what the job is expected to cost on --fleet, and ask");
  AddSimulationFlags(verb, &flags->simulation);
  verb->add_option("--seed", flags->seed, "Of made-up spot capacity, where no --trace tells it")
      ->check(common::WholeNumber(0, 1'000'000))
      ->capture_default_str();
  verb->add_flag("--yes,-y", flags->yes, "Print the estimate, and submit without asking");
  for (const char* other : {"--fleet", "--trace", "--step", "--seed", "--yes"}) verb->get_option(other)->needs(wanted);
}

std::string UseMeasuredStep(const v1::Job& earlier, v1::JobSpec* spec) {
  const v1::JobStatus& status = earlier.status();
  if (spec->estimate().step_seconds() > 0 || status.step_seconds() <= 0) return "";
  const int most = std::max(1, spec->workers().max());
  const bool known = status.members_size() > 0;
  const int nodes = known ? status.members_size() : most;
  spec->mutable_estimate()->set_step_seconds(status.step_seconds() * nodes / most);
  return "a step takes " + Fixed(status.step_seconds(), 3) + " s on " + std::to_string(nodes) +
         (nodes == 1 ? " node" : " nodes") + (known ? "" : " (taken for workers.max: they are gone)") +
         ", as measured of job " + earlier.uid();
}

absl::StatusOr<bool> EstimateAndAsk(Context& context, const v1::Job& job, const std::string& job_file,
                                    const EstimateFlags& flags) {
  if (flags.simulation.fleet.empty()) {
    throw CLI::ValidationError(
        "--estimate",
        "needs the pools where nodes can be had: name the fleet file, as --fleet fleet.yaml (that of "
        "the coordinator, where it has one; docs/fleet.md)");
  }
  v1::ValidateJobRequest request;
  *request.mutable_job() = job;
  v1::Job resolved;
  absl::Status status = context.Call(&v1::Coordinator::StubInterface::ValidateJob, request, &resolved);
  if (!status.ok()) return status;
  EstimateReport report{.job = job.name()};
  if (const auto earlier = FindJob(context, job.name()); earlier.ok()) {
    const std::string note = UseMeasuredStep(*earlier, resolved.mutable_spec());
    if (!note.empty()) report.notes.push_back(note);
  }
  const auto simulation = ReadSimulation(resolved.spec(), job_file, flags.simulation);
  if (!simulation.ok()) return simulation.status();
  const auto worlds = Worlds(*simulation, flags.seed, &report.source);
  if (!worlds.ok()) return worlds.status();
  auto estimates = fleet::EstimateOver(*worlds, simulation->job);
  if (!estimates.ok()) return estimates.status();
  report.currency = simulation->fleet.currency();
  report.deadline = simulation->job.deadline;
  report.budget = simulation->job.budget;
  report.estimates = *std::move(estimates);
  for (const std::string& caveat : fleet::Caveats(worlds->front(), simulation->job)) report.notes.push_back(caveat);
  std::cout << (context.json() ? ToJson(report).dump() + "\n" : ToText(report)) << std::flush;
  return Ask(flags);
}

std::string ToText(const EstimateReport& report) {
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "COST " + Printable(report.currency), "DONE AFTER", "INTERRUPTIONS", "KG CO2", ""}};
  for (const fleet::Estimate& e : report.estimates) {
    if (!e.left_out.empty() || e.unfinished == e.worlds) {
      rows.push_back({e.policy, "-", "-", "-", "-",
                      e.meaning + (e.left_out.empty() ? "; is never done" : "; left out: " + e.left_out)});
      continue;
    }
    rows.push_back({e.policy, Words(e.cost, 2), Words(e.finish_hours, 1, " h"), Words(e.interruptions, 0),
                    e.carbon_known ? Words(e.kg_co2, 1) : "-", e.meaning});
  }
  std::string text = "Estimate for " + Printable(report.job) + ", the median and the range, on " +
                     Printable(report.source) + "\n" + Table(rows);
  for (const fleet::Estimate& e : report.estimates) {
    const bool first = &e == &report.estimates.front();
    if (e.left_out.empty()) text += "  " + Kept(report, e) + (first ? Less(report.estimates) : "") + "\n";
  }
  for (const std::string& note : report.notes) text += "  note: " + Printable(note) + "\n";
  return text;
}

nlohmann::json ToJson(const EstimateReport& report) {
  json out = {{"job", report.job},
              {"source", report.source},
              {"currency", report.currency},
              {"policies", json::array()},
              {"notes", report.notes}};
  if (report.deadline < kNever) out["deadline_hours"] = report.deadline;
  if (report.budget < kNever) out["budget"] = report.budget;
  for (const fleet::Estimate& e : report.estimates) {
    if (!e.left_out.empty()) {
      out["policies"].push_back({{"policy", e.policy}, {"left_out", e.left_out}});
      continue;
    }
    json line = {{"policy", e.policy},
                 {"plays", e.worlds},
                 {"unfinished", e.unfinished},
                 {"missed_deadline", e.missed},
                 {"over_budget", e.over_budget}};
    if (e.unfinished < e.worlds) {
      line.update({{"cost", ToJson(e.cost)},
                   {"finish_hours", ToJson(e.finish_hours)},
                   {"interruptions", ToJson(e.interruptions)}});
      if (e.carbon_known) line["kg_co2"] = ToJson(e.kg_co2);
    }
    if (e.needs.high > 0) line["needs_budget"] = ToJson(e.needs);
    out["policies"].push_back(std::move(line));
  }
  return {{"estimate", std::move(out)}};
}

}  // namespace rekindle::cli
