// This file runs a hook of the operator's own, so that any tool that can start machines can serve as a provider. The
// coordinator's fleet file names the hook, and a job never does.
//
//   COMMAND desired POOL N [NODE...]   asks for N machines. Where some machines have to end, those of NODE end first.
//   COMMAND list POOL   prints {"machines": [{"id": "a", "node": "a", "state": "running"}], "desired": 1}
//
// "node", "state" (starting, running, ending, ended) and "desired" may be left out. A refusal is any exit code except
// 0, with {"error": "...", "code": "no_capacity", "retry_after": 60} on the output. The codes are no_capacity,
// throttled, denied and not_found. Errors for the log go to the hook's stderr, which is that of the coordinator. The
// hook runs without a shell. At its deadline it is killed together with what it started. It sees no variable of the
// coordinator's environment that is named REKINDLE_*.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_EXEC_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_EXEC_H_

#include <memory>
#include <string>
#include <vector>

#include "coordinator/fleet/providers/contract/provider.h"

namespace rekindle::fleet {

// `command` is the absolute path of a program, followed by its first arguments.
std::unique_ptr<Provider> NewExecProvider(std::vector<std::string> command);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_EXEC_EXEC_H_
