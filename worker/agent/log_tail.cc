#include "worker/agent/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "common/process.h"

namespace rekindle::agent {
namespace {

// Length of the valid UTF-8 sequence at `at`, 0 when there is none (overlong forms and surrogates are not valid).
size_t SequenceLength(const std::string& s, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[at + i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || at + length > s.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

std::string ReadRange(const std::string& path, int64_t offset, int64_t bytes) {
  common::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return "";
  std::string text(static_cast<size_t>(bytes), '\0');
  const ssize_t got = pread(fd.get(), text.data(), text.size(), offset);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

std::string ToCleanText(const std::string& bytes) {
  std::string clean;
  clean.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = SequenceLength(bytes, i);
    const bool control = length == 1 && static_cast<unsigned char>(bytes[i]) < 0x20 && bytes[i] != '\t';
    if (length == 0 || control || bytes[i] == 0x7F) {
      clean += '?';
      ++i;
    } else {
      clean.append(bytes, i, length);
      i += length;
    }
  }
  return clean;
}

LogTail::LogTail(std::string path, int64_t offset, LogLimits limits)
    : path_(std::move(path)), limits_(limits), offset_(offset) {}

int64_t LogTail::FileSize() const {
  struct stat info = {};
  return stat(path_.c_str(), &info) == 0 ? info.st_size : 0;
}

bool LogTail::AtEnd() const { return FileSize() <= offset_; }

std::vector<std::string> LogTail::Read(LogBudget* budget, bool final) {
  std::vector<std::string> lines;
  const auto add = [&](std::string line) {
    budget->lines -= 1;
    budget->bytes -= static_cast<int64_t>(line.size()) + 1;
    lines.push_back(std::move(line));
  };
  const int64_t size = FileSize();
  if (size < offset_) offset_ = 0;  // Truncated by someone else.
  if (budget->lines <= 0 || budget->bytes <= 0 || size == offset_) return lines;
  if (size - offset_ > limits_.backlog) {
    const int64_t skipped = size - offset_ - limits_.backlog / 2;
    offset_ += skipped;
    add(absl::StrCat("[", skipped, " bytes of output were not sent: they are in the node's log file]"));
  }
  const std::string text = ReadRange(path_, offset_, std::min(size - offset_, budget->bytes));
  size_t at = 0;
  while (at < text.size() && budget->lines > 0 && budget->bytes > 0) {
    const size_t newline = text.find('\n', at);
    const size_t rest = (newline == std::string::npos ? text.size() : newline) - at;
    const size_t length = std::min(rest, static_cast<size_t>(limits_.longest_line));
    const bool whole = newline != std::string::npos || length < rest ||
                       (final && offset_ + static_cast<int64_t>(text.size()) == size) ||
                       length == static_cast<size_t>(limits_.longest_line);
    if (!whole) break;
    size_t end = at + length;
    if (end < text.size() && text[end] == '\n') ++end;
    // A carriage return ends a line in a terminal's log.
    std::string line = text.substr(at, length);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    add(ToCleanText(line));
    at = end;
  }
  offset_ += static_cast<int64_t>(at);
  return lines;
}

void LogTail::RotateIfLarge() {
  const int64_t size = FileSize();
  if (size < limits_.rotate_at || size != offset_) return;
  std::error_code error;
  std::filesystem::copy_file(path_, path_ + ".1", std::filesystem::copy_options::overwrite_existing, error);
  // Without room for the copy the file must shrink all the more.
  if (truncate(path_.c_str(), 0) == 0) offset_ = 0;
}

}  // namespace rekindle::agent
