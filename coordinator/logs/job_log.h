// The log of one job: what its trainers wrote, as pieces in the order in which they arrived, in files of a folder of
// its own. Each file begins with where every trainer stood, so that older files can go and only the newest is read at a
// start.
//
// Lines are numbered from 1 on, for ever: those that are not kept any more have had their numbers.
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

// Where a reader is. Begin with an empty one, or with what an earlier reader has had: `log` and `after`.
struct LogCursor {
  std::string log;    // v1.LogLines.log
  int64_t after = 0;  // Lines up to this number are not wanted any more.
  // Only JobLog uses the rest.
  int64_t file = 0;
  int64_t offset = 0;
  int64_t lines = 0;  // Before that offset.
};

struct LogItem {
  v1::LogLine line;
  bool is_newest = false;  // Nothing later is kept of its trainer, which was to write more.
};
struct LogPage {
  std::vector<LogItem> items;
  bool more = false;  // There is more to be read now.
};

// Thread-compatible.
class JobLog {
 public:
  struct Options {
    int64_t bytes = 64 << 20;  // Its files together, so much or one of them more at most.
    WriteCall write;
  };
  // Where a trainer stands.
  struct Trainer {
    std::string incarnation;  // The incarnation of its node's folder.
    int64_t end = 0;          // So many of its bytes are kept, or known to be gone.
    bool last = false;        // It has ended, and these were all.
    double at = 0;            // Unix seconds, of its newest piece.
  };

  static constexpr size_t kMaxTrainers = 4096;  // With more, those are forgotten that ended first.
  static constexpr size_t kPageBytes = 256 << 10;

  // `folder` need not exist. Nothing in it is read before it is needed, but names and sizes.
  JobLog(std::string folder, std::string uid, Options options);

  // Adds the piece where its trainer stands just there, and answers where it stands now: at piece.end where it was
  // kept. Errors of the disk leave all as it was. `at`: Unix seconds.
  absl::Status Append(const v1::LogPiece& piece, const std::string& incarnation, double at);
  // Null: it is not known.
  const Trainer* Find(const std::string& trainer);
  const std::map<std::string, Trainer>& trainers();

  // Lets the cursor begin with the newest `lines`.
  void SeekTail(int64_t lines, LogCursor* cursor);
  // The next page, with notes where lines are missing.
  LogPage Read(LogCursor* cursor);

  // Bytes of all its files.
  int64_t bytes() const { return bytes_; }
  // Unix seconds of the newest line in the oldest file that can go. Nothing where none can.
  std::optional<double> OldestAt() const;
  // Removes that file. Where the trainers stand is kept.
  void RemoveOldest();
  // Removes all files; the folder too, unless others have put something there. The object is empty then.
  absl::Status RemoveAll();
  // Holds no file open until the next addition.
  void Close() { newest_.reset(); }
  // Forgets what can be read again.
  void Unload();

 private:
  struct File {
    int64_t bytes = 0;
    double at = 0;         // Unix seconds of the newest piece.
    int64_t lines = 0;     // Before it; known once the log is loaded.
    bool is_bare = false;  // It is known to have nothing but its head.
  };

  std::string Path(int64_t file) const;
  void List();
  void Load();
  // The head of a file; nothing where it is none of this log.
  std::optional<v1::LogRecord> ReadHead(int64_t file) const;
  void ReplayNewest();
  // The newest file, to be added to.
  void Reopen();
  void Take(const v1::LogPiece& piece, const std::string& incarnation, double at);
  v1::LogRecord MakeHead(double at) const;
  absl::Status BeginFile(double at);
  absl::Status MakeRoom(double at);
  void Remove(int64_t file);
  void ForgetTrainers();
  // Reads on in one file; false when the page is full.
  bool ReadFile(LogCursor* cursor, LogPage* page, size_t* bytes);
  void AddPiece(const v1::LogRecord& record, LogCursor* cursor, LogPage* page, size_t* bytes);

  const std::string folder_;
  const std::string uid_;
  const Options options_;
  std::map<int64_t, File> files_;  // By number, in the order in which they were begun.
  int64_t next_file_ = 1;          // No file in the folder has this number or a later one.
  int64_t bytes_ = 0;

  // What Load reads.
  bool loaded_ = false;
  std::string log_;
  int64_t lines_ = 0;
  std::map<std::string, Trainer> trainers_;
  std::optional<LogSegment> newest_;  // The last of files_, while it is open.
  int64_t head_bytes_ = 0;            // The head of that file has so many.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_JOB_LOG_H_
