// Keeps the logs of all jobs in a folder, which has one folder per job. The oldest lines are removed first: when a job
// has more lines than are kept of one job, when all jobs together have too many, and when the disk is nearly full.
#ifndef REKINDLE_COORDINATOR_LOGS_LOG_STORE_H_
#define REKINDLE_COORDINATOR_LOGS_LOG_STORE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/files/disk_space.h"
#include "common/time/clock.h"
#include "coordinator/logs/job_log.h"
#include "coordinator/logs/log_segment.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// A LogStore is thread-compatible. Its calls may wait for the disk.
class LogStore {
 public:
  struct Options {
    // `folder` is the folder of all logs. It is made if it is missing, for its owner only (0700).
    std::string folder;
    // `job_bytes` is the size to which the log of one job may grow. It must be at least 1 MiB.
    int64_t job_bytes = 64 << 20;
    // All jobs' logs together have at most `total_bytes` bytes.
    int64_t total_bytes = 4LL << 30;
    common::TimeSource wall = common::WallSeconds;
    // `write` is what writes to the files of logs. Where it is empty, write(2) is used.
    WriteCall write;
    std::function<absl::StatusOr<common::DiskSpace>(const std::string& folder)> space = common::SpaceOf;
  };

  static constexpr int kMaxPieceLines = 4096;
  static constexpr size_t kMaxPieceBytes = 512 << 10;
  static constexpr size_t kMaxLineBytes = 8192;
  // The store holds at most `kOpen` log files open.
  static constexpr size_t kOpen = 256;
  // The store has the positions of trainers in memory for at most `kLoaded` jobs.
  static constexpr size_t kLoaded = 4096;

  // Opens the logs that an earlier process has left in the folder. Returns an error when the folder cannot be made or
  // listed.
  static absl::StatusOr<std::unique_ptr<LogStore>> Open(Options options);

  // Returns an error that says why a piece of a job's log is invalid, or OK when the piece can be kept.
  static absl::Status Check(const v1::LogPiece& piece);
  // Keeps the piece if it begins at its trainer's position and the disk takes it. Returns the trainer's new position.
  // REQUIRES: Check(piece) is OK. `incarnation` is that of the node's folder from which the piece comes.
  v1::LogPosition Keep(const v1::LogPiece& piece, const std::string& incarnation);
  // Returns a job's log, or null when nothing of it is kept. The pointer is valid until the next call of another
  // function.
  JobLog* Find(const std::string& job_uid);

  void Forget(const std::string& job_uid);
  // Removes the logs of all jobs but `job_uids`. The other jobs were forgotten while no LogStore could remove their
  // logs.
  void ForgetAllBut(const std::set<std::string>& job_uids);

  int64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::unique_ptr<JobLog> log;
    // `bytes` is the size with which the log is counted in `bytes_`.
    int64_t bytes = 0;
    // `oldest_at` is the time with which the log is listed in `oldest_`.
    std::optional<double> oldest_at;
    // `recent` is the log's place in `recent_`, or the end of `recent_` when the log is not loaded.
    std::list<std::string>::iterator recent;
    // `open` is the log's place in `open_`, or the end of `open_` when no file of the log is open.
    std::list<std::string>::iterator open;
  };

  explicit LogStore(Options options) : options_(std::move(options)) {}
  Entry& At(const std::string& job_uid);
  void Use(const std::string& job_uid, Entry& entry);
  void Release(Entry& entry);
  // Updates `bytes_` and `oldest_` after a change of the log.
  void Count(const std::string& job_uid, Entry& entry);
  // Removes the oldest files until the logs fit into their limits. All logs together had `bytes_before` bytes before
  // the last addition.
  void MakeRoom(int64_t bytes_before);
  // Removes the file that is the oldest over the logs of all jobs. Returns false when no file can be removed.
  bool RemoveOldest();
  bool IsDiskNearlyFull() const;
  void Complain(const absl::Status& status);

  const Options options_;
  // `jobs_` holds the logs of jobs. Its keys are the uids of the jobs.
  std::map<std::string, Entry> jobs_;
  // The times in `oldest_` say when the oldest file of each job was last written.
  std::set<std::pair<double, std::string>> oldest_;
  // `recent_` lists the jobs whose logs are loaded, the one used last at the end.
  std::list<std::string> recent_;
  // `open_` lists those jobs of `recent_` whose log has an open file, in the same order.
  std::list<std::string> open_;
  int64_t bytes_ = 0;
  double complained_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_STORE_H_
