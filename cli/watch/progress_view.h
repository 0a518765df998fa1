// What is shown of a job that is watched: text made of the job, the time and the room, and of nothing else.
#ifndef REKINDLE_CLI_WATCH_PROGRESS_VIEW_H_
#define REKINDLE_CLI_WATCH_PROGRESS_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/watch/terminal.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Times are Unix seconds.
struct Watched {
  v1::Job job;
  double heard_at = 0;  // When it was like that.
  double now = 0;
  std::optional<double> away_since;  // Nothing was heard of the coordinator since then.
};

// Lines to be drawn over each other, in UTF-8, each narrower than the terminal: state, bar, facts, last event, a loss
// curve where there is room. How many there are depends on the terminal's size alone.
std::vector<std::string> ProgressLines(const Watched& watched, TerminalSize size);

// Says it on one line, for where nothing can be drawn over; without the last event.
std::string ProgressLine(const Watched& watched);

// "coordinator away since 12:03:07, 14s". REQUIRES: it is.
std::string DescribeAway(const Watched& watched);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_PROGRESS_VIEW_H_
