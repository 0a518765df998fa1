// How the records of a job's log lie in a file: one after the other, each with its length and a checksum before it.
// What was torn by a crash or damaged by the disk is recognised, and ends what can be read of that file.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_RECORD_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/process.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

inline constexpr size_t kMaxLogRecordBytes = 4 << 20;

std::string FrameLogRecord(const v1::LogRecord& record);

// Reads the records of a file, from one that begins at `offset` on. What is appended meanwhile is read, too.
// Thread-compatible.
class LogScanner {
 public:
  // NOT_FOUND: there is no such file. INTERNAL: it is no plain file, or cannot be opened.
  static absl::StatusOr<LogScanner> Open(const std::string& path, int64_t offset);

  // The next whole record. Nothing at the end of what can be read.
  std::optional<v1::LogRecord> Next();
  // Where the next record begins.
  int64_t offset() const { return offset_; }

 private:
  explicit LogScanner(common::UniqueFd file, int64_t offset)
      : file_(std::move(file)), offset_(offset), buffer_begin_(offset) {}
  // That many bytes from offset_ on; null where there are fewer.
  const char* Look(size_t bytes);

  common::UniqueFd file_;
  int64_t offset_;
  std::string buffer_;
  int64_t buffer_begin_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_RECORD_H_
