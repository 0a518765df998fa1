// What the simulator plays, read from files: shared by `simulate` and `submit --estimate`.
#ifndef REKINDLE_CLI_SIMULATION_H_
#define REKINDLE_CLI_SIMULATION_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/fleet/simulate.h"
#include "coordinator/fleet/trace.h"
#include "rekindle/v1/fleet.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

struct SimulationFlags {
  std::string fleet;
  std::vector<std::string> traces;
  double step = 0;
};

// Its --fleet, --trace and --step. Returns --fleet.
CLI::Option* AddSimulationFlags(CLI::App* verb, SimulationFlags* flags);

struct Simulation {
  v1::Fleet fleet;  // Resolved.
  fleet::SimulatedJob job;
  std::vector<fleet::Trace> traces;
  double node_watts = 0;
};

// Errors name file and field; `job_file` is what `spec` was read from.
absl::StatusOr<Simulation> ReadSimulation(const v1::JobSpec& spec, const std::string& job_file,
                                          const SimulationFlags& flags);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SIMULATION_H_
