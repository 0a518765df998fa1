// Reads a job's log page by page, with notes where lines are missing.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_PAGE_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/logs/log_folder.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// A page is full when it has `kLogPageBytes` bytes. It exceeds that by at most one record.
inline constexpr size_t kLogPageBytes = 256 << 10;

// Says how far a reader has read a log. A reader begins with an empty cursor, or with the `log` and `after` that an
// earlier reader had.
struct LogCursor {
  // `log` identifies the log that the cursor is in, as v1.LogLines.log does.
  std::string log;
  // The reader does not want the lines up to the number `after` any more.
  int64_t after = 0;
  // Only ReadLogPage uses the fields `file`, `offset` and `lines`.
  int64_t file = 0;
  int64_t offset = 0;
  // `lines` counts the lines of the log before `offset`.
  int64_t lines = 0;
};

struct LogItem {
  v1::LogLine line;
  // `is_newest` says that the log has no later line of this trainer, although the trainer has not ended.
  bool is_newest = false;
};
struct LogPage {
  std::vector<LogItem> items;
  // `more` says that the log has more lines for the reader now.
  bool more = false;
};

// Describes the log that a page is read from.
struct LogContents {
  const LogFolder& folder;
  // `files` lists the files of the log, and must not be empty.
  const LogFiles& files;
  // `log` identifies the log, as v1.LogLines.log does.
  const std::string& log;
  // `lines` counts all lines that the log has ever had.
  int64_t lines;
  // Returns whether the log has no later piece of the same trainer, although the trainer has not ended.
  std::function<bool(const v1::LogPiece& piece)> is_newest;
};

// Returns the page at the cursor, and moves the cursor behind that page.
LogPage ReadLogPage(const LogContents& contents, LogCursor* cursor);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_PAGE_H_
