// The logs of all jobs, in a folder: one folder a job. What was written longest ago goes first, where a job has more
// than is kept of one, where all together have, and where the disk is nearly full.
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
#include "common/clock.h"
#include "common/disk_space.h"
#include "coordinator/logs/job_log.h"
#include "coordinator/logs/log_segment.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// Thread-compatible. Its calls may wait for the disk.
class LogStore {
 public:
  struct Options {
    std::string folder;               // Made where it is missing, for its owner only (0700).
    int64_t job_bytes = 64 << 20;     // At least 1 MiB.
    int64_t total_bytes = 4LL << 30;  // All jobs' logs together have at most so many.
    std::function<double()> wall = common::WallSeconds;
    WriteCall write;  // Empty: write(2).
    std::function<absl::StatusOr<common::DiskSpace>(const std::string& folder)> space = common::SpaceOf;
  };

  static constexpr int kMaxPieceLines = 4096;
  static constexpr size_t kMaxPieceBytes = 512 << 10;
  static constexpr size_t kMaxLineBytes = 8192;
  static constexpr size_t kOpen = 256;     // Files that are held open.
  static constexpr size_t kLoaded = 4096;  // Jobs of which it is in memory where their trainers stand.

  // Finds what an earlier process has left. Errors of making the folder.
  static absl::StatusOr<std::unique_ptr<LogStore>> Open(Options options);

  // Why nobody may send such a piece; OK: it can be kept.
  static absl::Status Check(const v1::LogPiece& piece);
  // Keeps the piece if it begins where its trainer stands and the disk takes it; says where the trainer stands now.
  // REQUIRES: Check(piece) is OK. `incarnation`: of the node's folder that it comes from.
  v1::LogPosition Keep(const v1::LogPiece& piece, const std::string& incarnation);
  // Null where nothing is kept of that job. Until the next call of another function.
  JobLog* Find(const std::string& job_uid);

  void Forget(const std::string& job_uid);
  // Those of jobs that were forgotten while nobody could remove theirs.
  void ForgetAllBut(const std::set<std::string>& job_uids);

  int64_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::unique_ptr<JobLog> log;
    int64_t bytes = 0;                        // As counted in bytes_.
    std::optional<double> oldest_at;          // As listed in oldest_.
    std::list<std::string>::iterator recent;  // In recent_; its end where it is not loaded.
    std::list<std::string>::iterator open;    // In open_; its end where it is not open.
  };

  explicit LogStore(Options options) : options_(std::move(options)) {}
  Entry& At(const std::string& job_uid);
  void Use(const std::string& job_uid, Entry& entry);
  void Release(Entry& entry);
  // Counts it anew.
  void Count(const std::string& job_uid, Entry& entry);
  // After all together had `bytes_before`.
  void MakeRoom(int64_t bytes_before);
  // Removes the oldest file of the job that has the oldest; false: there is nothing that can go.
  bool RemoveOldest();
  bool IsDiskNearlyFull() const;
  void Complain(const absl::Status& status);

  const Options options_;
  std::map<std::string, Entry> jobs_;                // By uid.
  std::set<std::pair<double, std::string>> oldest_;  // When the oldest file of a job was written last.
  std::list<std::string> recent_;                    // Those that are loaded, the one used last at the end.
  std::list<std::string> open_;                      // Those of them whose files are open, in the same order.
  int64_t bytes_ = 0;
  double complained_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_LOGS_LOG_STORE_H_
