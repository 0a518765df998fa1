// How much room the file system of a folder has.
#ifndef REKINDLE_COMMON_DISK_SPACE_H_
#define REKINDLE_COMMON_DISK_SPACE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

// Bytes of a file system, as its users see them. A total of 0 or less: it does not tell.
struct DiskSpace {
  int64_t free = 0;
  int64_t total = 0;
};

// NOT_FOUND, PERMISSION_DENIED or INTERNAL where it cannot be told. Knows no quota of a user or a group.
absl::StatusOr<DiskSpace> SpaceOf(const std::string& folder);

// A file system with no more than this share of it free is left to those who must write to it.
inline constexpr double kNearlyFullShare = 0.05;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DISK_SPACE_H_
