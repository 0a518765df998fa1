// Keeps the log of one job: what its trainers wrote, as pieces in the order of their arrival, in files of a folder of
// its own. Each file begins with the position of every trainer. So older files can be removed, and only the newest one
// is read at a start.
//
// Lines are numbered from 1 on and forever. A line that is not kept any more has used up its number.
#ifndef REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_
#define REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/logs/log_segment.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// Says where a reader is. A reader begins with an empty cursor, or with the `log` and `after` that an earlier reader
// had.
struct LogCursor {
  // `log` has the meaning of v1.LogLines.log.
  std::string log;
  // The reader does not want the lines up to this number any more.
  int64_t after = 0;
  // Only JobLog uses the fields below.
  int64_t file = 0;
  int64_t offset = 0;
  // `lines` counts the lines before `offset`.
  int64_t lines = 0;
};

struct LogItem {
  v1::LogLine line;
  // `is_newest` says that nothing later of this trainer is kept, although it was going to write more.
  bool is_newest = false;
};
struct LogPage {
  std::vector<LogItem> items;
  // `more` says that there is more to be read now.
  bool more = false;
};

// This class is thread-compatible.
class JobLog {
 public:
  struct Options {
    // All files of the log together have at most `bytes` bytes, plus one file.
    int64_t bytes = 64 << 20;
    WriteCall write;
  };
  // Says what was received of a trainer.
  struct Trainer {
    // `incarnation` is that of the folder of the trainer's node.
    std::string incarnation;
    // Of the trainer's output, `end` bytes are kept or known to be gone.
    int64_t end = 0;
    // `last` says that the trainer has ended and that these were all of its bytes.
    bool last = false;
    // `at` is when its newest piece came, in Unix seconds.
    double at = 0;
  };

  // If there are more trainers, those that ended first are forgotten.
  static constexpr size_t kMaxTrainers = 4096;
  static constexpr size_t kPageBytes = 256 << 10;

  // `folder` need not exist. Until its contents are needed, only names and sizes in it are read.
  JobLog(std::string folder, std::string uid, Options options);

  // Adds the piece if it begins exactly where its trainer stands. OK does not say that it was added: Find tells where
  // the trainer stands, which is piece.end for a piece that was kept. An error of the disk leaves everything as it was.
  // `at` is in Unix seconds.
  absl::Status Append(const v1::LogPiece& piece, const std::string& incarnation, double at);
  // Returns null when the trainer is not known.
  const Trainer* Find(const std::string& trainer);
  const std::map<std::string, Trainer>& trainers();

  // Lets the cursor begin with the newest `lines` lines.
  void SeekTail(int64_t lines, LogCursor* cursor);
  // Returns the next page, with notes where lines are missing.
  LogPage Read(LogCursor* cursor);

  // Returns the bytes of all files of the log.
  int64_t bytes() const { return bytes_; }
  // Returns when the newest line of the oldest removable file was written, in Unix seconds, or nullopt when no file can
  // be removed.
  std::optional<double> OldestAt() const;
  // Removes the file that OldestAt speaks of. The positions of the trainers stay known.
  void RemoveOldest();
  // Removes all files. The folder goes too, unless others have put something there. The object is empty afterwards.
  absl::Status RemoveAll();
  // Closes the open file until the next addition.
  void Close() { newest_.reset(); }
  // Drops from memory everything that can be read again.
  void Unload();

 private:
  struct File {
    int64_t bytes = 0;
    // `at` is when the newest piece of the file came, in Unix seconds.
    double at = 0;
    // `lines` counts the lines before this file, and is set once the log is loaded.
    int64_t lines = 0;
    // `is_bare` says that the file is known to contain nothing but its head.
    bool is_bare = false;
  };

  std::string Path(int64_t file) const;
  void List();
  void Load();
  // Returns the head of a file, or nullopt when the file does not belong to this log.
  std::optional<v1::LogRecord> ReadHead(int64_t file) const;
  void ReplayNewest();
  // Opens the newest file to append to it.
  void Reopen();
  void Take(const v1::LogPiece& piece, const std::string& incarnation, double at);
  v1::LogRecord MakeHead(double at) const;
  absl::Status BeginFile(double at);
  absl::Status MakeRoom(double at);
  void Remove(int64_t file);
  void ForgetTrainers();
  // Reads on in one file. Returns false when the page is full.
  bool ReadFile(LogCursor* cursor, LogPage* page, size_t* bytes);
  void AddPiece(const v1::LogRecord& record, LogCursor* cursor, LogPage* page, size_t* bytes);

  const std::string folder_;
  const std::string uid_;
  const Options options_;
  // The key of `files_` is the number of the file. Files are numbered in the order in which they were begun.
  std::map<int64_t, File> files_;
  // No file in the folder has this number or a higher one.
  int64_t next_file_ = 1;
  int64_t bytes_ = 0;

  // Load fills in the members below.
  bool loaded_ = false;
  std::string log_;
  int64_t lines_ = 0;
  std::map<std::string, Trainer> trainers_;
  // `newest_` is the last of `files_`, while it is open.
  std::optional<LogSegment> newest_;
  // `head_bytes_` is the size of the head of the newest file.
  int64_t head_bytes_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_
