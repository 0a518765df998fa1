// Reads the file that one trainer writes to as lines at positions. A position counts the bytes that the trainer has
// written since it was started. The file's beginning can be freed under the writer without moving the rest.
#ifndef REKINDLE_WORKER_AGENT_LOGS_LOG_FILE_H_
#define REKINDLE_WORKER_AGENT_LOGS_LOG_FILE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

// Says how much one message may still carry.
struct LogBudget {
  int lines = 1000;
  int64_t bytes = 128 << 10;
};

// Gives the blocks of a file's first bytes back to the file system. Returns whether that worked.
using FreeBlocks = std::function<bool(int fd, int64_t bytes)>;
bool PunchHole(int fd, int64_t bytes);

// The class is thread-compatible. The writer may write meanwhile, and must append (O_APPEND).
class LogFile {
 public:
  // Longer lines are cut up.
  static constexpr int64_t kLongestLine = 4096;

  // Says whose output the file is. It is kept in a second file beside the log, whose name has ".json" appended.
  struct Owner {
    std::string trainer;
    std::string job_uid;
    // `begin` is the position of the file's first byte.
    int64_t begin = 0;
    bool operator==(const Owner&) const = default;
  };

  // Opens the log if its recorded owner is the same trainer. Otherwise it writes `owner` down first. Returns NOT_FOUND
  // if there is no such log, and other errors if the owner could not be written down.
  static absl::StatusOr<LogFile> OpenOrOwn(const std::string& path, const Owner& owner);
  // Returns NOT_FOUND if no owner is recorded, and DATA_LOSS if the record cannot be read.
  static absl::StatusOr<LogFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const Owner& owner() const { return owner_; }

  // End() returns the position after the last byte. Begin() returns the position of the first byte that is still there.
  int64_t End() const;
  int64_t Begin() const;
  // DiskBytes() returns the bytes that the file takes on the disk. WrittenAt() returns the Unix seconds of the last
  // write.
  int64_t DiskBytes() const;
  double WrittenAt() const;

  // Returns whole lines from `position` on, as valid UTF-8 without control characters, and subtracts them from the
  // budget. If the writer has `ended`, an unfinished line counts as a line, and the last piece is marked as the last.
  // REQUIRES: the budget has room for a line of the greatest length.
  v1::LogPiece Read(int64_t position, bool ended, LogBudget* budget) const;

  // Frees the bytes before `position`, or somewhat fewer. If the file system cannot do that, it frees the whole file
  // once that holds more than `most` bytes.
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
