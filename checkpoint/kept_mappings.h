// Mappings of segments that this process had before and may get again: mapping one costs as much as reading it.
// Thread-safe.
#ifndef REKINDLE_CHECKPOINT_KEPT_MAPPINGS_H_
#define REKINDLE_CHECKPOINT_KEPT_MAPPINGS_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {

class KeptMappings {
 public:
  explicit KeptMappings(common::SharedMemory::Access access) : access_(access) {}

  // The segment at `path`, of `bytes`: as it was kept, or mapped anew. Errors as SharedMemory::Map.
  absl::StatusOr<common::SharedMemory> Take(const std::string& path, size_t bytes);
  // For the next Take. The segment is not this process's to touch until then. Drops what is stale: kept mappings of
  // segments that the service has removed would hold the memory that it counts as free.
  void Keep(const std::string& path, common::SharedMemory memory);
  // Gives back memory of segments that are no longer there: the service counts it as free.
  void DropStale();

 private:
  const common::SharedMemory::Access access_;
  std::mutex mutex_;
  std::map<std::string, common::SharedMemory> kept_;  // By path.
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_KEPT_MAPPINGS_H_
