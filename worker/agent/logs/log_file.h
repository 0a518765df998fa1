// Reads the log file of one trainer as lines at positions. A position counts the bytes that the trainer has written
// since it was started. The beginning of the file can be freed while the trainer writes, and the positions of the other
// bytes stay the same.
#ifndef REKINDLE_WORKER_AGENT_LOGS_LOG_FILE_H_
#define REKINDLE_WORKER_AGENT_LOGS_LOG_FILE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

// Counts down how many lines and bytes one message may still carry.
struct LogBudget {
  int lines = 1000;
  int64_t bytes = 128 << 10;
};

// Gives the blocks of a file's first bytes back to the file system. Returns whether that worked.
using FreeBlocks = std::function<bool(int fd, int64_t bytes)>;
bool PunchHole(int fd, int64_t bytes);

// A LogFile is thread-compatible. The trainer may write to the log file at any time, and must append (O_APPEND).
class LogFile {
 public:
  // Lines of a log that are longer than `kLongestLine` bytes are split.
  static constexpr int64_t kLongestLine = 4096;

  // Says which trainer wrote the log. The owner is kept in a second file beside the log, whose name has ".json"
  // appended.
  struct Owner {
    std::string trainer;
    std::string job_uid;
    // `begin` is the position, in all that the trainer has written, of the first byte that the log file still has.
    int64_t begin = 0;
    bool operator==(const Owner&) const = default;
  };

  // Opens a trainer's log. If the log's recorded owner is not that trainer, `owner` is written down first. Returns
  // NOT_FOUND if there is no log at `path`, and other errors if the owner could not be written down.
  static absl::StatusOr<LogFile> OpenOrOwn(const std::string& path, const Owner& owner);
  // Opens a trainer's log file and learns from the file beside it which trainer wrote it. Returns NOT_FOUND if no owner
  // is recorded, and DATA_LOSS if the record cannot be read.
  static absl::StatusOr<LogFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const Owner& owner() const { return owner_; }

  // End() returns the position after the log's last byte. Begin() returns the position of the first byte that is still
  // there.
  int64_t End() const;
  int64_t Begin() const;
  // DiskBytes() returns the bytes that the log file takes on the disk. WrittenAt() returns when it was last written to,
  // in Unix seconds.
  int64_t DiskBytes() const;
  double WrittenAt() const;

  // Returns whole lines of the log from `position` on, as valid UTF-8 without control characters, and subtracts them
  // from what `budget` still allows. If the trainer has `ended`, an unfinished line counts as a line, and the last
  // piece is marked as the last. REQUIRES: `budget` has room for a line of the greatest length.
  v1::LogPiece Read(int64_t position, bool ended, LogBudget* budget) const;

  // Frees the log's bytes before `position`, or somewhat fewer. If the file system cannot do that, the whole file is
  // emptied once it holds more than `most` bytes.
  void Free(int64_t position, int64_t most, const FreeBlocks& free_blocks);
  // Removes the log and the record of its owner.
  void Remove() const;

 private:
  LogFile(std::string path, Owner owner) : path_(std::move(path)), owner_(std::move(owner)) {}
  absl::Status WriteOwner() const;

  std::string path_;
  Owner owner_;
};

// Replaces bytes that are not valid UTF-8, and control characters other than tab, by '?'.
std::string ToCleanText(const std::string& bytes);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOGS_LOG_FILE_H_
