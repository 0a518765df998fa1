// Defines how the records of a job's log are stored in a file: one after the other, each with its length and a checksum
// before it. A record that was torn by a crash or damaged by the disk is recognised, and the file cannot be read from
// there on.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_RECORD_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

inline constexpr size_t kMaxLogRecordBytes = 4 << 20;

std::string FrameLogRecord(const v1::LogRecord& record);

// Reads the records of a log file, beginning with the record at `offset`. It also reads what is appended meanwhile. A
// LogScanner is thread-compatible.
class LogScanner {
 public:
  // Opens a log file. NOT_FOUND means that there is no such file. INTERNAL means that it is not a plain file or cannot
  // be opened.
  static absl::StatusOr<LogScanner> Open(const std::string& path, int64_t offset);

  // Returns the next whole record, or nullopt at the end of what can be read of the file.
  std::optional<v1::LogRecord> Next();
  // Returns where the next record begins in the file.
  int64_t offset() const { return offset_; }

 private:
  explicit LogScanner(common::UniqueFd file, int64_t offset)
      : file_(std::move(file)), offset_(offset), buffer_begin_(offset) {}
  // Returns the next `bytes` bytes of the file without moving on, or null when there are fewer.
  const char* Peek(size_t bytes);

  common::UniqueFd file_;
  int64_t offset_;
  std::string buffer_;
  int64_t buffer_begin_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_RECORD_H_
