// Keeps the mappings of shared memory segments that this process had before and may get again, because mapping a
// segment costs as much as reading it. It is thread-safe.
#ifndef REKINDLE_CHECKPOINT_CLIENT_KEPT_MAPPINGS_H_
#define REKINDLE_CHECKPOINT_CLIENT_KEPT_MAPPINGS_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "common/memory/shared_memory.h"
#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

class KeptMappings {
 public:
  explicit KeptMappings(common::SharedMemory::Access access) : access_(access) {}

  // Returns a mapping of the segment at `path` with `bytes` bytes, either the kept one or a new one. Returns the errors
  // of SharedMemory::Map.
  absl::StatusOr<common::SharedMemory> Take(const std::string& path, size_t bytes);
  // Keeps a mapping for the next Take. Until then this process must not touch the segment. Keep() also drops stale
  // mappings, because they hold the memory of segments that the service has removed and counts as free.
  void Keep(const std::string& path, common::SharedMemory memory);
  // Drops the mappings of segments that are no longer there, because the service counts their memory as free.
  void DropStale();

 private:
  const common::SharedMemory::Access access_;
  common::Mutex mutex_;
  // `kept_` maps the path of each segment to its kept mapping.
  std::map<std::string, common::SharedMemory> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_KEPT_MAPPINGS_H_
