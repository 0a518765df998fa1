// Shows the live view of a job.
#ifndef REKINDLE_CLI_WATCH_WATCH_H_
#define REKINDLE_CLI_WATCH_WATCH_H_

#include <string>

#include "absl/status/status.h"
#include "cli/shared/context.h"

namespace rekindle::cli {

// Shows a job until the job has ended, and sets `last` to its final state. On a terminal the view is drawn. Elsewhere
// WatchJob prints a line now and then, or one JSON object per change. If a coordinator that has answered goes away, it
// is waited for, ten minutes at most. Ctrl-C ends the watching but not the job, and returns an InterruptedError that
// says so.
absl::Status WatchJob(Context& context, const std::string& job, v1::Job* last);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_WATCH_H_
