#include "common/files/disk_space.h"

#include <sys/statvfs.h>

#include <cerrno>

#include "common/files/file.h"

namespace rekindle::common {

absl::StatusOr<DiskSpace> SpaceOf(const std::string& folder) {
  struct statvfs disk = {};
  if (statvfs(folder.c_str(), &disk) != 0) return ErrnoStatus(errno, "cannot look at the disk of", folder);
  const auto block = static_cast<int64_t>(disk.f_frsize);
  return DiskSpace{static_cast<int64_t>(disk.f_bavail) * block, static_cast<int64_t>(disk.f_blocks) * block};
}

}  // namespace rekindle::common
