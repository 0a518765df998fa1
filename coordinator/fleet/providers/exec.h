// A hook of the operator's own, so that any tool that can start machines may serve. Named in the coordinator's fleet
// file, never by a job.
//
//   COMMAND desired POOL N [NODE...]   wants N machines; where some end, these nodes first
//   COMMAND list POOL                  prints {"machines": [{"id": "a", "node": "a", "state": "running"}], "desired":
//   1}
//
// "node", "state" (starting, running, ending) and "desired" may be left out. A refusal is any exit code but 0, with
// {"error": "...", "code": "no_capacity", "retry_after": 60} on its output; codes: no_capacity, throttled, denied,
// not_found. Errors for the log go to its stderr, which is the coordinator's. No shell; it is killed at its deadline,
// with what it started; of our environment it sees nothing named REKINDLE_*.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_H_

#include <memory>
#include <string>
#include <vector>

#include "coordinator/fleet/providers/provider.h"

namespace rekindle::fleet {

// `command`: a program's absolute path and its first arguments.
std::unique_ptr<Provider> NewExecProvider(std::vector<std::string> command);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_H_
