// simulate: what a job would cost on a fleet, and when it would be done, before it is submitted. Needs no coordinator.
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/context.h"
#include "cli/text.h"
#include "common/file.h"
#include "common/spec/yaml.h"
#include "coordinator/fleet/compare.h"
#include "coordinator/fleet/fleet_file.h"
#include "coordinator/fleet/synthetic.h"

namespace rekindle::cli {
namespace {

using nlohmann::json;

constexpr size_t kTimelineShown = 40;

struct Flags {
  std::string job;
  std::string fleet;
  std::vector<std::string> traces;
  double step = 0;
  std::vector<std::string> policies;
};

absl::Status ReadMessage(const std::string& path, google::protobuf::Message* message) {
  auto text = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return text.status();
  return common::ParseYaml(*text, path, message);
}

// FILE, or NAME=FILE for a file that does not name its zone or region.
absl::StatusOr<fleet::Trace> ReadTrace(const std::string& argument, double step) {
  const size_t equals = argument.find('=');
  fleet::TraceOptions options{.step_seconds = step};
  std::string path = argument;
  if (equals != std::string::npos) {
    options.name = argument.substr(0, equals);
    path = argument.substr(equals + 1);
  }
  auto text = common::ReadFile(*common::PosixFileSystem(), path, fleet::kMaxTraceBytes);
  if (!text.ok()) return text.status();
  return fleet::ParseTrace(*text, path, options);
}

json ToJson(const fleet::PolicyOutcome& of, bool timeline) {
  const fleet::Outcome& o = of.outcome;
  json out = {{"policy", of.policy}, {"finished", o.finished}, {"missed_deadline", o.missed}, {"cost", o.cost}};
  if (of.policy == "optimum") return out;
  out.update({{"finish_hours", o.finish_hours},
              {"useful_node_hours", o.useful_hours},
              {"lost_node_hours", o.start_hours},
              {"spot_node_hours", o.spot_hours},
              {"on_demand_node_hours", o.on_demand_hours},
              {"interruptions", o.interruptions},
              {"starts", o.starts},
              {"kg_co2", o.grams / 1000}});
  if (!timeline) return out;
  for (const fleet::Moment& moment : o.timeline)
    out["timeline"].push_back({{"hours", moment.hours}, {"what", moment.text}});
  return out;
}

void PrintText(const std::vector<fleet::PolicyOutcome>& outcomes) {
  std::vector<std::vector<std::string>> rows = {
      {"POLICY", "COST", "DONE AFTER", "USEFUL", "LOST", "INTERRUPTIONS", "KG CO2", ""}};
  for (const fleet::PolicyOutcome& of : outcomes) {
    const fleet::Outcome& o = of.outcome;
    const std::string note =
        of.meaning + (o.finished ? (o.missed ? "; misses the deadline" : "") : "; does not finish");
    if (of.policy == "optimum") {
      rows.push_back({of.policy, Fixed(o.cost, 2), "-", "-", "-", "-", "-", note});
      continue;
    }
    rows.push_back({of.policy, Fixed(o.cost, 2), o.finished ? Fixed(o.finish_hours, 1) + " h" : "-",
                    Fixed(o.useful_hours, 1) + " h", Fixed(o.start_hours, 1) + " h", std::to_string(o.interruptions),
                    Fixed(o.grams / 1000, 1), note});
  }
  std::cout << Table(rows) << "\n";
  const fleet::PolicyOutcome& first = outcomes.front();
  const size_t shown = std::min(kTimelineShown, first.outcome.timeline.size());
  for (size_t i = 0; i < shown; ++i) {
    const fleet::Moment& moment = first.outcome.timeline[i];
    std::cout << "  " << Fixed(moment.hours, 2) << " h  " << Printable(moment.text) << "\n";
  }
  if (shown < first.outcome.timeline.size()) {
    std::cout << "  ... " << first.outcome.timeline.size() - shown << " more; -o json has all\n";
  }
}

absl::Status Simulate(const Flags& flags, bool as_json) {
  v1::Job job;
  v1::Fleet file;
  if (absl::Status status = ReadMessage(flags.job, &job); !status.ok()) return status;
  if (absl::Status status = ReadMessage(flags.fleet, &file); !status.ok()) return status;
  const auto fleet = fleet::ResolveFleet(file);
  if (!fleet.ok()) return absl::InvalidArgumentError(flags.fleet + ": " + std::string(fleet.status().message()));
  const auto goals = fleet::ResolveGoals(job.spec());
  if (!goals.ok()) return absl::InvalidArgumentError(flags.job + ": " + std::string(goals.status().message()));
  std::vector<fleet::Trace> traces;
  for (const std::string& argument : flags.traces) {
    auto trace = ReadTrace(argument, flags.step);
    if (!trace.ok()) return trace.status();
    traces.push_back(*std::move(trace));
  }
  const auto& estimate = job.spec().estimate();
  const auto world = fleet::MakeWorld(*fleet, traces, estimate.has_node_watts() ? estimate.node_watts() : 500);
  if (!world.ok()) return world.status();
  if (absl::Status status = fleet::CheckReachable(*world, *goals); !status.ok()) return status;
  const auto outcomes = fleet::Compare(*world, *goals, flags.policies);
  if (!outcomes.ok()) return outcomes.status();
  if (!as_json) {
    PrintText(*outcomes);
    return absl::OkStatus();
  }
  json out = {{"job", job.name()}, {"policies", json::array()}};
  for (size_t i = 0; i < outcomes->size(); ++i) out["policies"].push_back(ToJson((*outcomes)[i], i == 0));
  std::cout << out.dump(1) << "\n";
  return absl::OkStatus();
}

}  // namespace

namespace {

// A number from `low` to `high`; CLI::Range lets "nan" pass.
CLI::Validator Between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return "";
        std::ostringstream why;
        why << "must be a number from " << low << " to " << high;
        return why.str();
      },
      "FLOAT");
}

constexpr double kMaxSyntheticCells = 5e6;  // A file of about 60 MB.

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
  CLI::App* verb = app.add_subcommand(
      "simulate", "What a job would cost on a fleet, over traces (spec.goals is not acted on at submit yet)");
  verb->add_option("--job", flags->job, "Job file with spec.goals and spec.estimate (docs/fleet.md)")->required();
  verb->add_option("--fleet", flags->fleet, "Fleet file: the pools")->required();
  verb->add_option("--trace", flags->traces, "FILE or NAME=FILE; capacity, prices or carbon; may be repeated");
  verb->add_option("--step", flags->step, "Seconds of a tick of the trace files")->check(Between(1, 86400));
  verb->add_option("--policy", flags->policies, "Only this one; may be repeated. Default: all, side by side");
  context.OnRun(verb, [flags, &context] { return Simulate(*flags, context.json()); });

  auto options = std::make_shared<fleet::SyntheticOptions>();
  CLI::App* make = app.add_subcommand("synthetic-trace", "Print a made-up capacity trace, the same for a seed");
  make->add_option("--seed", options->seed)->capture_default_str();
  make->add_option("--zones", options->zones)->check(CLI::Range(1, 100))->capture_default_str();
  make->add_option("--nodes", options->nodes, "The most of a zone")->check(CLI::Range(1, 10000))->capture_default_str();
  make->add_option("--hours", options->hours)->check(Between(1, 1e5))->capture_default_str();
  make->add_option("--step", options->step_seconds, "Seconds of a tick")
      ->check(Between(1, 3600))
      ->capture_default_str();
  make->add_option("--price", options->price)->check(Between(0.001, 1e6))->capture_default_str();
  context.OnRun(make, [options] { return PrintSynthetic(*options); });
}

}  // namespace rekindle::cli
