#include "coordinator/logs/log_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/digest/hash.h"
#include "common/files/file.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kReadBytes = 256 << 10;

// A Frame stands before each record of a log file. It is little-endian, as are all machines that Rekindle runs on.
struct Frame {
  uint32_t bytes = 0;
  uint32_t reserved = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(Frame) == 16);

}  // namespace

std::string FrameLogRecord(const v1::LogRecord& record) {
  const std::string text = record.SerializeAsString();
  const Frame frame{.bytes = static_cast<uint32_t>(text.size()), .checksum = common::Xxh3_64(text.data(), text.size())};
  std::string framed(sizeof(frame), '\0');
  std::memcpy(framed.data(), &frame, sizeof(frame));
  return framed + text;
}

absl::StatusOr<LogScanner> LogScanner::Open(const std::string& path, int64_t offset) {
  common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return common::ErrnoStatus(errno, "cannot open", path);
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) return common::ErrnoStatus(errno, "cannot look at", path);
  if (!S_ISREG(facts.st_mode)) return common::ErrnoStatus(EINVAL, "no plain file:", path);
  return LogScanner(std::move(file), offset);
}

const char* LogScanner::Peek(size_t bytes) {
  const auto skip = static_cast<size_t>(offset_ - buffer_begin_);
  if (buffer_.size() >= skip + bytes) return buffer_.data() + skip;
  buffer_.erase(0, skip);
  buffer_begin_ = offset_;
  while (buffer_.size() < bytes) {
    const size_t had = buffer_.size();
    buffer_.resize(std::max(bytes, had + kReadBytes));
    const ssize_t got =
        pread(file_.get(), buffer_.data() + had, buffer_.size() - had, buffer_begin_ + static_cast<int64_t>(had));
    const bool again = got < 0 && errno == EINTR;
    buffer_.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0 && !again) return nullptr;
  }
  return buffer_.data();
}

std::optional<v1::LogRecord> LogScanner::Next() {
  const char* at = Peek(sizeof(Frame));
  if (at == nullptr) return std::nullopt;
  Frame frame;
  std::memcpy(&frame, at, sizeof(frame));
  if (frame.bytes == 0 || frame.bytes > kMaxLogRecordBytes || frame.reserved != 0) return std::nullopt;
  at = Peek(sizeof(Frame) + frame.bytes);
  if (at == nullptr) return std::nullopt;
  const char* text = at + sizeof(Frame);
  v1::LogRecord record;
  if (common::Xxh3_64(text, frame.bytes) != frame.checksum) return std::nullopt;
  if (!record.ParseFromArray(text, static_cast<int>(frame.bytes))) return std::nullopt;
  offset_ += static_cast<int64_t>(sizeof(Frame) + frame.bytes);
  return record;
}

}  // namespace rekindle::coordinator
