// The file that one trainer writes to, as a row of lines at positions: a position counts the bytes that the trainer has
// written since it was started. The file's beginning can be freed under the writer, without moving what is left.
#ifndef REKINDLE_WORKER_AGENT_LOG_FILE_H_
#define REKINDLE_WORKER_AGENT_LOG_FILE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

// What one message may still carry.
struct LogBudget {
  int lines = 1000;
  int64_t bytes = 128 << 10;
};

// Gives the blocks of a file's first bytes back to the file system: true where it could.
using FreeBlocks = std::function<bool(int fd, int64_t bytes)>;
bool PunchHole(int fd, int64_t bytes);

// Thread-compatible. The writer may write meanwhile, and must append (O_APPEND).
class LogFile {
 public:
  static constexpr int64_t kLongestLine = 4096;  // Longer ones are cut up.

  // Whose output the file is. What it says is kept beside it, in a file with ".json" after its name.
  struct Owner {
    std::string trainer;
    std::string job_uid;
    int64_t begin = 0;  // The position of the file's first byte.
    bool operator==(const Owner&) const = default;
  };

  // Opens a log of the owner that was written down before, or writes `owner` down. NOT_FOUND: there is no such file.
  // Others: it could not be written down.
  static absl::StatusOr<LogFile> OpenOrOwn(const std::string& path, const Owner& owner);
  // NOT_FOUND: nobody's. DATA_LOSS: whose it is cannot be read.
  static absl::StatusOr<LogFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const Owner& owner() const { return owner_; }

  // The position after its last byte, and that of the first which is still there.
  int64_t End() const;
  int64_t Begin() const;
  // Bytes that it takes on the disk, and Unix seconds of the last write.
  int64_t DiskBytes() const;
  double WrittenAt() const;

  // Whole lines from `position` on, within the budget, which is used up by them: valid UTF-8 without control
  // characters. `ended`: the writer has ended, so that an unfinished line counts as one, and the last piece says that
  // it is that. REQUIRES: the budget has room for a line of the greatest length.
  v1::LogPiece Read(int64_t position, bool ended, LogBudget* budget) const;

  // Frees all before `position`, or some less; where the file system cannot do that, all of it, once it holds more than
  // `most` bytes.
  void Free(int64_t position, int64_t most, const FreeBlocks& free_blocks);
  // With what says whose it is.
  void Remove() const;

 private:
  LogFile(std::string path, Owner owner) : path_(std::move(path)), owner_(std::move(owner)) {}
  absl::Status WriteOwner() const;

  std::string path_;
  Owner owner_;
};

// Replaces bytes that are not valid UTF-8, and control characters but tab, by '?'.
std::string ToCleanText(const std::string& bytes);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LOG_FILE_H_
