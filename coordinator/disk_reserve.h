// Disk space that the coordinator keeps for what it has to decide while the disk is full: a file beside its database,
// really allocated, that is deleted when the database finds no space, and made again when there is room.
//
// Thread-safe.
#ifndef REKINDLE_COORDINATOR_DISK_RESERVE_H_
#define REKINDLE_COORDINATOR_DISK_RESERVE_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/disk_space.h"
#include "common/metrics.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

using common::DiskSpace;

class DiskReserve {
 public:
  static constexpr int64_t kBytes = 64 << 20;
  static constexpr double kFreeForJobs = common::kNearlyFullShare;  // With less, new jobs are refused.
  static constexpr double kRetrySeconds = 10;                       // Between two looks whether there is room again.
  static constexpr char kFile[] = "reserve";                        // In the folder.

  struct Options {
    std::string folder;
    int64_t bytes = kBytes;
    std::function<absl::StatusOr<DiskSpace>(const std::string& folder)> space = common::SpaceOf;
    std::function<double()> now;  // Seconds of a steady clock.
  };

  // The metrics are not owned and outlive it. Takes the reserve where there is room.
  DiskReserve(Options options, common::Metrics* metrics);
  // The file stays: it is the next coordinator's.
  ~DiskReserve() = default;
  DiskReserve(const DiskReserve&) = delete;

  // Gives the space to whoever writes next, which is to be the caller. False: there was none.
  bool Release();
  // Takes it again, at most once in kRetrySeconds, when the disk has as much free again beside it.
  void Tend();
  // What has happened since the last call, for the cluster's events. Without revision and time.
  std::vector<v1::Event> TakeEvents();
  bool held() const;

  // RESOURCE_EXHAUSTED: the disk is too full for new jobs; says what to do. OK where that cannot be told.
  absl::Status CheckRoomForJobs() const;

 private:
  std::string Path() const;
  // REQUIRES mutex_ held, as do all below. Errors leave nothing of it but what is not ours.
  absl::Status Take();
  void SetHeld(bool held);
  void Tell(const char* kind, const std::string& text);

  const Options options_;
  prometheus::Gauge& held_bytes_;
  mutable std::mutex mutex_;
  bool held_ = false;
  double looked_at_ = 0;
  std::vector<v1::Event> events_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_DISK_RESERVE_H_
