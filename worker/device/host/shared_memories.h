// Knows the memory of a host device that other processes may map, each piece as a file in memory.
#ifndef REKINDLE_WORKER_DEVICE_HOST_SHARED_MEMORIES_H_
#define REKINDLE_WORKER_DEVICE_HOST_SHARED_MEMORIES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "common/files/unique_fd.h"
#include "common/sync/mutex.h"

namespace rekindle::device {

// Names a part of a file in memory. The descriptor is owned by the SharedMemories.
struct SharedPart {
  int descriptor = -1;
  uint64_t offset = 0;
  // `mapping` is the number of the memory, which no other memory of the same SharedMemories ever has. An address may
  // come back after its memory has ended.
  uint64_t mapping = 0;
};

// SharedMemories is thread-safe.
class SharedMemories {
 public:
  SharedMemories() = default;
  ~SharedMemories();
  SharedMemories(const SharedMemories&) = delete;
  SharedMemories& operator=(const SharedMemories&) = delete;

  // Maps new memory of `bytes` bytes, zeroed and aligned to pages. Its file is sealed: whoever maps it later can only
  // read it. Returns RESOURCE_EXHAUSTED if there is no room.
  absl::StatusOr<void*> Make(size_t bytes, const std::string& purpose);
  // Unmaps memory that Make() has returned. Processes that have mapped it keep it.
  void End(void* memory);
  // Returns the file in which the address lies, or nothing if it is not memory of Make(). The descriptor stays valid
  // until the memory is ended.
  std::optional<SharedPart> Find(const void* address) const;

 private:
  struct Mapping {
    size_t bytes = 0;
    common::UniqueFd file;
    uint64_t number = 0;
  };

  mutable common::Mutex mutex_;
  // `mappings_` is keyed by the first address of each.
  std::map<std::byte*, Mapping> mappings_ ABSL_GUARDED_BY(mutex_);
  uint64_t made_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_HOST_SHARED_MEMORIES_H_
