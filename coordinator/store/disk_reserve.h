// Keeps disk space for what the coordinator has to write while the disk is full. The reserve is a file beside the
// database whose blocks are really allocated. It is deleted when the database finds no space, and made again when there
// is room.
//
// A DiskReserve is thread-safe.
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
#include "common/time/clock.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

using common::DiskSpace;

class DiskReserve {
 public:
  static constexpr int64_t kBytes = 64 << 20;
  // New jobs are refused when no more than the share `kFreeForJobs` of the disk is free.
  static constexpr double kFreeForJobs = common::kNearlyFullShare;
  // After `kRetrySeconds` seconds the coordinator looks again whether the disk has room for the reserve.
  static constexpr double kRetrySeconds = 10;
  // `kFile` is the name of the reserve's file in the data folder.
  static constexpr char kFile[] = "reserve";

  struct Options {
    std::string folder;
    int64_t bytes = kBytes;
    std::function<absl::StatusOr<DiskSpace>(const std::string& folder)> space = common::SpaceOf;
    // `now` returns seconds of a steady clock.
    common::TimeSource now;
  };

  // Makes the reserve if the disk has room. The caller keeps the ownership of the metrics, which must outlive the
  // reserve.
  DiskReserve(Options options, common::Metrics* metrics);
  // The destructor leaves the reserve's file to the next coordinator.
  ~DiskReserve() = default;
  DiskReserve(const DiskReserve&) = delete;

  // Deletes the reserve. Whoever writes next gets its space, so the caller should write at once. Returns false when
  // there was no reserve.
  bool Release();
  // Makes the reserve again if the disk has twice the reserve's size free. It looks at most once in kRetrySeconds.
  void Tend();
  // Returns what has happened to the reserve since the last call, as events of the cluster without revision and time.
  std::vector<v1::Event> TakeEvents();
  bool held() const;

  // Returns RESOURCE_EXHAUSTED, with what to do, when the disk is too full for new jobs. Returns OK when the free space
  // is not known.
  absl::Status CheckRoomForJobs() const;

 private:
  std::string Path() const;
  // Makes the reserve's file. After an error there is no reserve. If another program has put a file at the reserve's
  // path, that file stays.
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
