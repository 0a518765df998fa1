// Appends records to one file of a job's log. Only the file's owner may read it (0600).
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_SEGMENT_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_SEGMENT_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::coordinator {

// A WriteCall writes as write(2) does. Tests replace it to simulate a disk that is full or fails.
using WriteCall = std::function<ssize_t(int fd, const void* data, size_t bytes)>;

// A LogSegment is movable and thread-compatible.
class LogSegment {
 public:
  // Creates a new file that begins with the record `head`. The errors are ALREADY_EXISTS, RESOURCE_EXHAUSTED (no space)
  // and INTERNAL, and after an error there is no new file.
  static absl::StatusOr<LogSegment> Create(const std::string& path, const v1::LogRecord& head, WriteCall write);
  // Opens an existing file to append to it. Its readable records end at `bytes`, and what stands after them is cut off.
  static absl::StatusOr<LogSegment> Reopen(const std::string& path, int64_t bytes, WriteCall write);

  // Appends a record, as FrameLogRecord gives it. After OK every later process on this machine sees the whole record,
  // and an error leaves the file as it was. The file is not synced, so a power cut may take the record.
  absl::Status Append(std::string_view framed);
  // Makes sure that a power cut cannot take any record that was appended. Sync takes as long as the disk needs.
  absl::Status Sync();
  int64_t bytes() const { return bytes_; }

 private:
  LogSegment(std::string path, common::UniqueFd file, int64_t bytes, WriteCall write)
      : path_(std::move(path)), file_(std::move(file)), bytes_(bytes), write_(std::move(write)) {}

  std::string path_;
  common::UniqueFd file_;
  int64_t bytes_;
  WriteCall write_;
  // `torn_` says that a write has failed and that the part of the record which was written could not be cut off.
  bool torn_ = false;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_SEGMENT_H_
