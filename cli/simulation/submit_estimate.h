// Implements submit --estimate: it computes what a job is expected to cost before it is submitted (docs/fleet.md).
#ifndef REKINDLE_CLI_SIMULATION_SUBMIT_ESTIMATE_H_
#define REKINDLE_CLI_SIMULATION_SUBMIT_ESTIMATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/shared/context.h"
#include "cli/simulation/simulation.h"
#include "coordinator/fleet/simulator/estimate.h"

namespace rekindle::cli {

struct EstimateFlags {
  bool wanted = false;
  bool yes = false;
  uint64_t seed = 1;
  SimulationFlags simulation;
};

void AddEstimateFlags(CLI::App* verb, EstimateFlags* flags);

// Prints the estimate of a job's cost and returns whether to submit the job. With `flags.yes` the user is not asked.
// Without a terminal the user cannot be asked, and the job is not submitted. The coordinator validates the job first.
// The errors are those of the validation and of reading files. FAILED_PRECONDITION says that the job's deadline or
// budget cannot be kept, and ABORTED that the user said no.
absl::StatusOr<bool> EstimateAndAsk(Context& context, const v1::Job& job, const std::string& job_file,
                                    const EstimateFlags& flags);

// Sets in `spec` how long a step takes, unless the spec says it. The time is that of a step of the job `earlier`,
// scaled if the number of nodes differs. Returns a note for the user about this time, or an empty text if nothing was
// set.
std::string UseMeasuredStep(const v1::Job& earlier, v1::JobSpec* spec);

// Holds what is printed of an estimate.
struct EstimateReport {
  std::string job;
  // `source` says where the capacity of the zones comes from.
  std::string source;
  std::string currency;
  // `deadline` is the job's deadline, in hours from the start of the job, and `budget` is the job's budget. A limit
  // that the job does not have is infinite.
  double deadline = 0;
  double budget = 0;
  std::vector<fleet::Estimate> estimates;
  std::vector<std::string> notes;
};
std::string ToText(const EstimateReport& report);
nlohmann::json ToJson(const EstimateReport& report);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_SIMULATION_SUBMIT_ESTIMATE_H_
