// Formats what is shown of a watched job. The text depends only on the job, the time and the size of the terminal.
#ifndef REKINDLE_CLI_WATCH_PROGRESS_VIEW_H_
#define REKINDLE_CLI_WATCH_PROGRESS_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/watch/terminal.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Holds a watched job. All times are Unix seconds.
struct Watched {
  v1::Job job;
  // `heard_at` is the time at which `job` came from the coordinator.
  double heard_at = 0;
  double now = 0;
  // The coordinator has not answered since `away_since`.
  std::optional<double> away_since;
};

// Returns the lines of the live view, in UTF-8 and each narrower than the terminal: state, bar, facts, last event, and
// a loss curve if there is room. Their number depends only on the terminal's size, so that they can be drawn over the
// previous lines.
std::vector<std::string> ProgressLines(const Watched& watched, TerminalSize size);

// Returns the job's progress on one line without the last event, for output that cannot be redrawn.
std::string ProgressLine(const Watched& watched);

// Returns a text like "coordinator away since 12:03:07, 14s". REQUIRES: `away_since` is set.
std::string DescribeAway(const Watched& watched);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_PROGRESS_VIEW_H_
