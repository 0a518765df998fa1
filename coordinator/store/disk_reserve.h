// Keeps disk space for what the coordinator has to decide while the disk is full. The reserve is a file beside the
// database whose blocks are really allocated. It is deleted when the database finds no space, and made again when there
// is room.
//
// This class is thread-safe.
#ifndef REKINDLE_COORDINATOR_STORE_DISK_RESERVE_H_
#define REKINDLE_COORDINATOR_STORE_DISK_RESERVE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/disk_space.h"
#include "common/metrics/metrics.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

using common::DiskSpace;

class DiskReserve {
 public:
  static constexpr int64_t kBytes = 64 << 20;
  // New jobs are refused when no more than the share `kFreeForJobs` of the disk is free.
  static constexpr double kFreeForJobs = common::kNearlyFullShare;
  // `kRetrySeconds` pass between two looks whether there is room again.
  static constexpr double kRetrySeconds = 10;
  // The file has this name in the folder.
  static constexpr char kFile[] = "reserve";

  struct Options {
    std::string folder;
    int64_t bytes = kBytes;
    std::function<absl::StatusOr<DiskSpace>(const std::string& folder)> space = common::SpaceOf;
    // `now` returns seconds of a steady clock.
    std::function<double()> now;
  };

  // The caller keeps the ownership of the metrics, which must outlive this object. The constructor takes the reserve if
  // there is room.
  DiskReserve(Options options, common::Metrics* metrics);
  // The destructor leaves the file to the next coordinator.
  ~DiskReserve() = default;
  DiskReserve(const DiskReserve&) = delete;

  // Frees the space for whoever writes next, which should be the caller. Returns false when there was no reserve.
  bool Release();
  // Takes the reserve again if the disk has the same space free in addition to it. It tries this at most once in
  // kRetrySeconds.
  void Tend();
  // Returns what has happened since the last call, as events of the cluster without revision and time.
  std::vector<v1::Event> TakeEvents();
  bool held() const;

  // Returns RESOURCE_EXHAUSTED, with what to do, when the disk is too full for new jobs. Returns OK when that is not
  // known.
  absl::Status CheckRoomForJobs() const;

 private:
  std::string Path() const;
  // Makes the reserve. After an error there is none, but a file that is not the coordinator's stays.
  absl::Status Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SetHeld(bool held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tell(const char* kind, const std::string& text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  prometheus::Gauge& held_bytes_;
  mutable common::Mutex mutex_;
  bool held_ ABSL_GUARDED_BY(mutex_) = false;
  double looked_at_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<v1::Event> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_STORE_DISK_RESERVE_H_
