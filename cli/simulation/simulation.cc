#include "cli/simulation/simulation.h"

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/spec/flag_values.h"
#include "common/spec/yaml.h"
#include "coordinator/fleet/file/fleet_file.h"
#include "coordinator/fleet/file/fleet_text.h"
#include "coordinator/fleet/simulator/csv.h"
#include "coordinator/fleet/simulator/job_goals.h"
#include "coordinator/fleet/simulator/trace_world.h"
#include "coordinator/market/emission_forecast.h"

namespace rekindle::cli {
namespace {

absl::StatusOr<v1::Fleet> ReadFleet(const std::string& path) {
  auto text = common::ReadFile(*common::PosixFileSystem(), path, common::kMaxYamlBytes);
  if (!text.ok()) return text.status();
  return fleet::ParseFleet(*text, path);
}

// Reads a trace file. The argument is FILE, or NAME=FILE to name the series of a file that has only one. If the whole
// argument, with its '=', is the name of an existing file, it is a FILE.
absl::StatusOr<fleet::Trace> ReadTrace(const std::string& argument, double step) {
  const size_t equals = argument.find('=');
  const bool named = equals != std::string::npos && !common::PosixFileSystem()->Stat(argument).ok();
  fleet::TraceOptions options{.step_seconds = step};
  if (named) options.name = argument.substr(0, equals);
  const std::string path = named ? argument.substr(equals + 1) : argument;
  auto text = common::ReadFile(*common::PosixFileSystem(), path, fleet::kMaxCsvBytes);
  if (!text.ok()) return text.status();
  return fleet::ParseTrace(*text, path, options);
}

}  // namespace

CLI::Option* AddSimulationFlags(CLI::App* verb, SimulationFlags* flags) {
  verb->add_option("--trace", flags->traces, "FILE or NAME=FILE; capacity, prices or carbon")->type_name("FILE");
  verb->add_option("--step", flags->step, "Seconds of a tick of the trace files")->check(common::NumberFrom(1, 86400));
  return verb->add_option("--fleet", flags->fleet, "Fleet file: the pools (docs/fleet.md)")->type_name("FILE");
}

absl::StatusOr<Simulation> ReadSimulation(const v1::JobSpec& spec, const std::string& job_file,
                                          const SimulationFlags& flags) {
  auto fleet = ReadFleet(flags.fleet);
  if (!fleet.ok()) return fleet.status();
  const auto goals = fleet::ResolveGoals(spec);
  if (!goals.ok()) return absl::InvalidArgumentError(job_file + ": " + std::string(goals.status().message()));
  if (absl::Status kept = fleet::KeepPoolsOf(spec.workers().device(), &*fleet); !kept.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(job_file, ": ", kept.message()));
  }
  Simulation out{.fleet = *std::move(fleet), .job = *goals};
  for (const std::string& argument : flags.traces) {
    auto trace = ReadTrace(argument, flags.step);
    if (!trace.ok()) return trace.status();
    out.traces.push_back(*std::move(trace));
  }
  out.node_watts = spec.estimate().has_node_watts() ? spec.estimate().node_watts() : market::kDefaultNodeWatts;
  return out;
}

}  // namespace rekindle::cli
