// The newest lines of output of each job's trainers, in memory. Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_LOG_BOOK_H_
#define REKINDLE_COORDINATOR_SERVER_LOG_BOOK_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

class LogBook {
 public:
  static constexpr size_t kLines = 10'000;    // A job.
  static constexpr size_t kLineBytes = 4096;  // Longer ones are cut.
  static constexpr size_t kJobBytes = 8 << 20;
  static constexpr size_t kJobs = 64;  // Those written to last; older ones are dropped.

  void Append(const v1::LogChunk& chunk);
  void Forget(const std::string& job_uid) { books_.erase(job_uid); }

  struct Page {
    std::vector<v1::LogLine> lines;
    int64_t next = 0;  // Where to go on.
  };
  // Lines numbered `from` and up (those still there), at most `limit`.
  Page Read(const std::string& job_uid, int64_t from, size_t limit) const;
  // The number with which Read returns the newest `lines`.
  int64_t Tail(const std::string& job_uid, int64_t lines) const;

 private:
  struct Book {
    std::deque<v1::LogLine> lines;
    int64_t first = 0;  // Number of lines.front().
    size_t bytes = 0;
    uint64_t touched = 0;
  };
  void DropOldest();

  std::map<std::string, Book> books_;
  uint64_t clock_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOG_BOOK_H_
