// submit --estimate: what a job is expected to cost, before it is submitted (docs/fleet.md).
#ifndef REKINDLE_CLI_ESTIMATE_H_
#define REKINDLE_CLI_ESTIMATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/context.h"
#include "cli/simulation.h"
#include "coordinator/fleet/estimate.h"

namespace rekindle::cli {

struct EstimateFlags {
  bool wanted = false;
  bool yes = false;
  uint64_t seed = 1;
  SimulationFlags simulation;
};

void AddEstimateFlags(CLI::App* verb, EstimateFlags* flags);

// Prints the estimate. True: submit it. With `flags.yes` nobody is asked; without a terminal the answer is no.
// Errors: of files, of the coordinator, which checks the job first; FAILED_PRECONDITION where deadline or budget cannot
// be kept; ABORTED where the user says no.
absl::StatusOr<bool> EstimateAndAsk(Context& context, const v1::Job& job, const std::string& job_file,
                                    const EstimateFlags& flags);

// Where the spec does not say how long a step takes: as of an earlier job, on another number of nodes in proportion.
// The note that says so; empty: nothing was taken.
std::string UseMeasuredStep(const v1::Job& earlier, v1::JobSpec* spec);

// What is printed.
struct EstimateReport {
  std::string job;
  std::string source;  // Where the capacity was taken from.
  std::string currency;
  double deadline = 0;  // As SimulatedJob has them.
  double budget = 0;
  std::vector<fleet::Estimate> estimates;
  std::vector<std::string> notes;
};
std::string ToText(const EstimateReport& report);
nlohmann::json ToJson(const EstimateReport& report);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_ESTIMATE_H_
