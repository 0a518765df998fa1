// One file of a job's log, while it is appended to. It is for its owner only (0600).
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_SEGMENT_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_SEGMENT_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

// Writes as write(2) does; tests put disks that are full or fail in its place.
using WriteCall = std::function<ssize_t(int fd, const void* data, size_t bytes)>;

// Movable, thread-compatible.
class LogSegment {
 public:
  // A new file that begins with `head`. ALREADY_EXISTS, RESOURCE_EXHAUSTED (no space), INTERNAL; then there is none.
  static absl::StatusOr<LogSegment> Create(const std::string& path, const v1::LogRecord& head, WriteCall write);
  // To go on with one whose records end at `bytes`. What is after that cannot be read, and is cut off.
  static absl::StatusOr<LogSegment> Reopen(const std::string& path, int64_t bytes, WriteCall write);

  // The whole record is in the file, as every later process on this machine sees it, or an error leaves the file as it
  // was. It is not synced: a power cut may take it.
  absl::Status Append(const v1::LogRecord& record);
  // Nothing that was appended is lost by a power cut any more. It may take as long as the disk needs.
  absl::Status Sync();
  int64_t bytes() const { return bytes_; }

 private:
  LogSegment(std::string path, common::UniqueFd file, int64_t bytes, WriteCall write)
      : path_(std::move(path)), file_(std::move(file)), bytes_(bytes), write_(std::move(write)) {}

  std::string path_;
  common::UniqueFd file_;
  int64_t bytes_;
  WriteCall write_;
  bool torn_ = false;  // What a failed write has left could not be cut off.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_SEGMENT_H_
