// Keeps the log of one job: what its trainers wrote, as pieces in the order of their arrival, in files of a folder of
// its own. Each file begins with the position of every trainer. So older files can be removed, and only the newest one
// is read at a start.
//
// The lines of a log are numbered from 1. A number is never used again, even if its line is not kept any more.
#ifndef REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_
#define REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "coordinator/logs/log_folder.h"
#include "coordinator/logs/log_page.h"
#include "coordinator/logs/log_segment.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// A JobLog is thread-compatible.
class JobLog {
 public:
  struct Options {
    // All files of the log together have at most `bytes` bytes, or one file if `bytes` is less than a record.
    int64_t bytes = 64 << 20;
    WriteCall write;
  };
  // Says what the log has received from a trainer.
  struct Trainer {
    // `incarnation` is the incarnation of the folder of the trainer's node.
    std::string incarnation;
    // `end` is the trainer's position: so many bytes of its output are kept or known to be gone.
    int64_t end = 0;
    // `last` says that the trainer has ended and that its log has arrived in full.
    bool last = false;
    // `at` is when the trainer's newest piece came, in Unix seconds.
    double at = 0;
  };

  // A log remembers up to `kMaxTrainers` trainers. If there are more, those that ended first are forgotten.
  static constexpr size_t kMaxTrainers = 4096;

  // `folder` is the folder of the job's log, and need not exist. Until the contents of its files are needed, only their
  // names and sizes are read.
  JobLog(std::string folder, std::string uid, Options options);

  // Adds the piece to the log if it begins exactly at its trainer's position. OK does not say that the piece was added:
  // Find tells the position, which is piece.end for a piece that was kept. An error of the disk leaves the log as it
  // was. `at` is in Unix seconds.
  absl::Status Append(const v1::LogPiece& piece, const std::string& incarnation, double at);
  // Returns what the log has received from the trainer, or null when the log does not know the trainer.
  const Trainer* Find(const std::string& trainer);
  const std::map<std::string, Trainer>& trainers();

  // Moves the cursor to the beginning of the newest `lines` lines.
  void SeekTail(int64_t lines, LogCursor* cursor);
  // Returns the next page for the reader, with notes where lines are missing.
  LogPage Read(LogCursor* cursor);

  // Returns how many bytes all files of the log have.
  int64_t bytes() const { return bytes_; }
  // Returns the time at which the newest line of the log's oldest removable file was written, in Unix seconds, or
  // nullopt when no file can be removed.
  std::optional<double> OldestAt() const;
  // Removes the oldest file of the log, if it can be removed. The positions of the trainers stay known.
  void RemoveOldest();
  // Removes all files of the log as LogFolder::RemoveAll does. The log is empty afterwards.
  absl::Status RemoveAll();
  // Closes the newest file of the log until something is added to the log.
  void Close() { newest_.reset(); }
  // Drops from memory everything that can be read again from the files.
  void Unload();

 private:
  void Load();
  // Returns the head of a file, or nullopt when the file does not belong to the job's log.
  std::optional<v1::LogRecord> ReadHead(int64_t file) const;
  void ReplayNewest();
  // Opens the newest file of the log to append to it.
  void Reopen();
  void Take(const v1::LogPiece& piece, const std::string& incarnation, double at);
  v1::LogRecord MakeHead(double at) const;
  absl::Status BeginFile(double at);
  // Makes room for a record of `bytes` bytes in the newest file or in a new one, for which the oldest files may go.
  absl::Status MakeRoom(int64_t bytes, double at);
  void Remove(int64_t file);
  void ForgetTrainers();

  const LogFolder folder_;
  const std::string uid_;
  const Options options_;
  LogFiles files_;
  // All files in the folder have numbers below `next_file_`.
  int64_t next_file_ = 1;
  int64_t bytes_ = 0;

  // The members from `loaded_` on are filled in by Load.
  bool loaded_ = false;
  std::string log_;
  int64_t lines_ = 0;
  std::map<std::string, Trainer> trainers_;
  // `newest_` is the newest file of the log, the last of `files_`, while that file is open.
  std::optional<LogSegment> newest_;
  // `head_bytes_` is the size of the head of the newest file.
  int64_t head_bytes_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_
