// The live view of a job.
#ifndef REKINDLE_CLI_WATCH_WATCH_H_
#define REKINDLE_CLI_WATCH_WATCH_H_

#include <string>

#include "absl/status/status.h"
#include "cli/context.h"

namespace rekindle::cli {

// Shows a job until it has ended, which `last` then is: drawn on a terminal, a line now and then elsewhere, or as one
// JSON object a change. A coordinator that was heard and goes away is waited for, ten minutes at most. Ctrl-C ends the
// watching and not the job: an InterruptedError that says so.
absl::Status WatchJob(Context& context, const std::string& job, v1::Job* last);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_WATCH_H_
