#include "coordinator/logs/log_segment.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "common/files/file.h"
#include "coordinator/logs/log_record.h"

namespace rekindle::coordinator {

absl::StatusOr<LogSegment> LogSegment::Create(const std::string& path, const v1::LogRecord& head, WriteCall write) {
  common::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return common::ErrnoStatus(errno, "cannot make", path);
  LogSegment segment(path, std::move(file), 0, std::move(write));
  if (absl::Status begun = segment.Append(FrameLogRecord(head)); !begun.ok()) {
    unlink(path.c_str());
    return begun;
  }
  return segment;
}

absl::StatusOr<LogSegment> LogSegment::Reopen(const std::string& path, int64_t bytes, WriteCall write) {
  common::UniqueFd file(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return common::ErrnoStatus(errno, "cannot open", path);
  if (ftruncate(file.get(), bytes) != 0) return common::ErrnoStatus(errno, "cannot cut off the torn end of", path);
  return LogSegment(path, std::move(file), bytes, std::move(write));
}

absl::Status LogSegment::Append(std::string_view framed) {
  if (torn_ && ftruncate(file_.get(), bytes_) != 0)
    return common::ErrnoStatus(errno, "cannot cut off the end of", path_);
  torn_ = false;
  for (size_t at = 0; at < framed.size();) {
    const ssize_t put = write_(file_.get(), framed.data() + at, framed.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const int error = put < 0 ? errno : EIO;
      torn_ = ftruncate(file_.get(), bytes_) != 0;
      return common::ErrnoStatus(error, "cannot write", path_);
    }
    at += static_cast<size_t>(put);
  }
  bytes_ += static_cast<int64_t>(framed.size());
  return absl::OkStatus();
}

absl::Status LogSegment::Sync() {
  if (fdatasync(file_.get()) != 0) return common::ErrnoStatus(errno, "cannot sync", path_);
  return absl::OkStatus();
}

}  // namespace rekindle::coordinator
