// Reads fleet and traces for the simulator from files. `simulate` and `submit --estimate` share the code.
#ifndef REKINDLE_CLI_SIMULATION_SIMULATION_H_
#define REKINDLE_CLI_SIMULATION_SIMULATION_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulator/simulate.h"
#include "coordinator/fleet/simulator/trace.h"
#include "rekindle/v1/fleet.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct SimulationFlags {
  std::string fleet;
  std::vector<std::string> traces;
  double step = 0;
};

// Adds the flags --fleet, --trace and --step to `verb`. Returns the flag --fleet, so that the caller can change it.
CLI::Option* AddSimulationFlags(CLI::App* verb, SimulationFlags* flags);

struct Simulation {
  // `fleet` is resolved, so every default is filled in.
  v1::Fleet fleet;
  fleet::FleetJob job;
  std::vector<fleet::Trace> traces;
  double node_watts = 0;
};

// Reads what the simulator needs. Errors name file and field. `job_file` is the file from which `spec` was read.
absl::StatusOr<Simulation> ReadSimulation(const v1::JobSpec& spec, const std::string& job_file,
                                          const SimulationFlags& flags);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SIMULATION_SIMULATION_H_
