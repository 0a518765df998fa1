// The end of a trainer's log: new lines for the coordinator, and a bound on the file. Thread-compatible.
#ifndef REKINDLE_WORKER_AGENT_LOG_TAIL_H_
#define REKINDLE_WORKER_AGENT_LOG_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rekindle::agent {

// What one report may still carry.
struct LogBudget {
  int lines = 200;
  int64_t bytes = 64 << 10;
};

struct LogLimits {
  int64_t rotate_at = 16 << 20;  // Then the file moves to ".1", replacing an earlier one.
  int64_t backlog = 256 << 10;   // Of more than that unread, the older part is skipped, with a line that says so.
  int64_t longest_line = 4096;   // Longer ones are cut up.
};

class LogTail {
 public:
  // Reads from byte `offset` on.
  LogTail(std::string path, int64_t offset, LogLimits limits = {});

  // Whole new lines within the budget, which is used up by them; valid UTF-8 (other bytes become '?'). `final`: the
  // writer has ended, so that an unfinished last line counts as one.
  std::vector<std::string> Read(LogBudget* budget, bool final);
  // All that is in the file was read. An unfinished last line counts as read.
  bool AtEnd() const;
  int64_t offset() const { return offset_; }
  // Moves a file that was read whole and is over the bound. The writer must append (O_APPEND): it goes on at the start
  // of the same file. What it writes during the copy itself is lost from the copy's end.
  void RotateIfLarge();

 private:
  int64_t FileSize() const;

  std::string path_;
  LogLimits limits_;
  int64_t offset_;
};

// Replaces bytes that are not valid UTF-8, and control characters but tab, by '?'.
std::string ToCleanText(const std::string& bytes);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOG_TAIL_H_
