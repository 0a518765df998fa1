// Measures the free space of a folder's file system.
#ifndef REKINDLE_COMMON_FILES_DISK_SPACE_H_
#define REKINDLE_COMMON_FILES_DISK_SPACE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Holds the bytes of a file system as its users see them. If `total` is 0 or less, the file system does not report it.
struct DiskSpace {
  int64_t free = 0;
  int64_t total = 0;
};

// Returns NOT_FOUND, PERMISSION_DENIED or INTERNAL if the space cannot be measured. It does not consider the quota of a
// user or a group.
absl::StatusOr<DiskSpace> SpaceOf(const std::string& folder);

// If no more than `kNearlyFullShare` of a file system is free, the rest is left to processes that must write to it.
inline constexpr double kNearlyFullShare = 0.05;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_DISK_SPACE_H_
