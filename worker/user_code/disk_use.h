// Measures what code of users has written to disks and to memory that is used as a disk.
#ifndef REKINDLE_WORKER_USER_CODE_DISK_USE_H_
#define REKINDLE_WORKER_USER_CODE_DISK_USE_H_

#include <sys/types.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rekindle::user_code {

struct DiskLimits {
  int64_t bytes = int64_t{10} << 30;
  int64_t files = 200'000;
};

struct DiskUse {
  int64_t bytes = 0;
  int64_t files = 0;
  // `is_whole` is false if folders of the user lie so deep in each other that they were not all looked at.
  bool is_whole = true;
};

// Returns what files of `uid` below the folders take, and files of `uid` without a name that its processes have open or
// mapped. It follows no links in the folders, enters no folder that `uid` could not enter, and stops soon after the
// limits are exceeded. It takes longer the more files of others the folders have.
DiskUse MeasureDiskUse(uid_t uid, const std::vector<std::string>& folders, const DiskLimits& limits);

// Returns OK, or RESOURCE_EXHAUSTED with what exceeds the limits.
absl::Status CheckDiskUse(const DiskUse& use, const DiskLimits& limits);

// Removes the files and folders of `uid` in `folder`, with all that is in them, also where they lie in folders of
// others that `uid` can enter. It follows no links there. While processes of `uid` run they may make new ones without
// end, so the rest is left as it is after `limit_seconds`.
void RemoveFilesOf(uid_t uid, const std::string& folder,
                   double limit_seconds = std::numeric_limits<double>::infinity());

// Removes all that is in a folder, however deep, but not the folder. It follows no links. It stops after
// `limit_seconds`.
void EmptyFolder(const std::string& folder, double limit_seconds = std::numeric_limits<double>::infinity());

}  // namespace rekindle::user_code

#endif  // REKINDLE_WORKER_USER_CODE_DISK_USE_H_
