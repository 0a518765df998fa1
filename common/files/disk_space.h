// Measures the free space of a folder's file system.
#ifndef REKINDLE_COMMON_FILES_DISK_SPACE_H_
#define REKINDLE_COMMON_FILES_DISK_SPACE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Holds the size of a file system and its free space, in bytes. `free` does not count what only root may use. If
// `total` is 0 or less, the file system does not report its size.
struct DiskSpace {
  int64_t free = 0;
  int64_t total = 0;
};

// Returns NOT_FOUND, PERMISSION_DENIED or INTERNAL if the space cannot be measured. The quota of a user or a group is
// not considered.
absl::StatusOr<DiskSpace> SpaceOf(const std::string& folder);

// If no more than `kNearlyFullShare` of a file system is free, this free space is kept for files that must be written.
inline constexpr double kNearlyFullShare = 0.05;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_DISK_SPACE_H_
