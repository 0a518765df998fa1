// The live view of a job.
#ifndef REKINDLE_CLI_WATCH_H_
#define REKINDLE_CLI_WATCH_H_

#include <string>

#include "absl/status/status.h"
#include "cli/context.h"

namespace rekindle::cli {

// Draws (terminal), prints a line now and then (no terminal) or writes one JSON object a change, until the job has
// ended. A coordinator that goes away and comes back is waited for, at most 60 s. `last` gets the final job.
absl::Status WatchJob(Context& context, const std::string& job, v1::Job* last);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_H_
