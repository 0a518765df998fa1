#include "worker/agent/logs/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/process/process.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

constexpr size_t kMaxOwnerBytes = 4096;
// The unit of `st_blocks` has 512 bytes on every file system.
constexpr int64_t kBytesOfABlock = 512;
// Bytes are freed in multiples of `kFreedAtOnce`, which are whole blocks in every file system. If only a part of a
// block were freed, that part would stay on the disk as zeros.
constexpr int64_t kFreedAtOnce = 1 << 20;

// Returns the length of the valid UTF-8 sequence at `at`, or 0 if there is none. Overlong forms and surrogates are not
// valid.
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
  if (bytes <= 0) return "";
  common::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) return "";
  std::string text(static_cast<size_t>(bytes), '\0');
  const ssize_t got = pread(fd.get(), text.data(), text.size(), offset);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

std::string OwnerPath(const std::string& path) { return path + ".json"; }

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

bool PunchHole(int fd, int64_t bytes) {
  return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes) == 0;
}

absl::StatusOr<LogFile> LogFile::Open(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(OwnerPath(path), kMaxOwnerBytes);
  if (!text.ok()) return text.status();
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  Owner owner;
  try {
    json.at("trainer").get_to(owner.trainer);
    json.at("job_uid").get_to(owner.job_uid);
    json.at("begin").get_to(owner.begin);
  } catch (const nlohmann::json::exception& error) {
    return absl::DataLossError(absl::StrCat(OwnerPath(path), " does not say whose log that is: ", error.what()));
  }
  if (owner.trainer.empty() || owner.job_uid.empty() || owner.begin < 0) {
    return absl::DataLossError(absl::StrCat(OwnerPath(path), " does not say whose log that is"));
  }
  return LogFile(path, std::move(owner));
}

absl::StatusOr<LogFile> LogFile::OpenOrOwn(const std::string& path, const Owner& owner) {
  absl::StatusOr<LogFile> known = Open(path);
  if (known.ok() && known->owner_.trainer == owner.trainer) return known;
  if (access(path.c_str(), F_OK) != 0) return absl::NotFoundError(absl::StrCat("there is no ", path));
  LogFile file(path, owner);
  if (absl::Status written = file.WriteOwner(); !written.ok()) return written;
  return file;
}

absl::Status LogFile::WriteOwner() const {
  const nlohmann::ordered_json json = {
      {"trainer", owner_.trainer}, {"job_uid", owner_.job_uid}, {"begin", owner_.begin}};
  return ReplaceFile(OwnerPath(path_), json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

int64_t LogFile::End() const {
  struct stat facts = {};
  return owner_.begin + (stat(path_.c_str(), &facts) == 0 ? facts.st_size : 0);
}

int64_t LogFile::DiskBytes() const {
  struct stat facts = {};
  return stat(path_.c_str(), &facts) == 0 ? facts.st_blocks * kBytesOfABlock : 0;
}

double LogFile::WrittenAt() const {
  struct stat facts = {};
  return stat(path_.c_str(), &facts) == 0 ? static_cast<double>(facts.st_mtim.tv_sec) : 0;
}

int64_t LogFile::Begin() const {
  common::UniqueFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return owner_.begin;
  const off_t first = lseek(file.get(), 0, SEEK_DATA);
  if (first >= 0) return owner_.begin + first;
  // lseek() fails with ENXIO if the file has no data any more, and with other errors if the file system has no holes.
  return errno == ENXIO ? End() : owner_.begin;
}

v1::LogPiece LogFile::Read(int64_t position, bool ended, LogBudget* budget) const {
  v1::LogPiece piece;
  piece.set_job_uid(owner_.job_uid);
  piece.set_trainer(owner_.trainer);
  const int64_t end = End();
  const int64_t begin = end > position ? std::max(position, Begin()) : position;
  piece.set_begin(begin);
  piece.set_gone(begin - position);
  const std::string text = ReadRange(path_, begin - owner_.begin, std::min(end - begin, budget->bytes));
  const bool is_all = begin + static_cast<int64_t>(text.size()) >= end;
  size_t at = 0;
  while (at < text.size() && budget->lines > 0 && budget->bytes > 0) {
    const size_t newline = text.find('\n', at);
    const size_t rest = (newline == std::string::npos ? text.size() : newline) - at;
    const size_t length = std::min(rest, static_cast<size_t>(kLongestLine));
    const bool is_whole = newline != std::string::npos || length < rest || (ended && is_all);
    if (!is_whole) break;
    size_t next = at + length;
    if (next < text.size() && text[next] == '\n') ++next;
    // A line that a program wrote for a terminal may end with a carriage return.
    std::string line = text.substr(at, length);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    piece.add_lines(ToCleanText(line));
    budget->lines -= 1;
    budget->bytes -= static_cast<int64_t>(next - at);
    at = next;
  }
  piece.set_end(begin + static_cast<int64_t>(at));
  piece.set_last(ended && piece.end() >= end);
  return piece;
}

void LogFile::Free(int64_t position, int64_t most, const FreeBlocks& free_blocks) {
  const int64_t bytes = (position - owner_.begin) / kFreedAtOnce * kFreedAtOnce;
  if (bytes <= 0) return;
  common::UniqueFd file(open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return;
  if (free_blocks(file.get(), bytes)) return;
  // What the trainer writes to its log between `fstat` and `ftruncate` is lost, and no position in the log counts it.
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0 || facts.st_size <= most) return;
  owner_.begin += facts.st_size;
  const absl::Status written = WriteOwner();
  if (written.ok() && ftruncate(file.get(), 0) == 0) return;
  owner_.begin -= facts.st_size;
  log::Warning("a trainer's log cannot be made smaller", {{"file", path_}, {"bytes", facts.st_size}});
}

void LogFile::Remove() const {
  RemoveFile(path_);
  RemoveFile(OwnerPath(path_));
}

}  // namespace rekindle::agent
