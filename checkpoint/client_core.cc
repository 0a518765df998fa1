#include "checkpoint/client_core.h"

namespace rekindle::checkpoint {

absl::StatusOr<common::SharedMemory> ClientCore::MapToFill(const std::string& path, size_t bytes) {
  std::vector<common::SharedMemory> stale;  // Unmapped without the lock.
  {
    std::lock_guard lock(mutex_);
    for (auto at = mappings_.begin(); at != mappings_.end();) {
      const bool is_there = at->second.IsOf(at->first);
      if (is_there && at->first != path) {
        ++at;
        continue;
      }
      common::SharedMemory memory = std::move(at->second);
      at = mappings_.erase(at);
      if (is_there && memory.size() == bytes) return memory;
      stale.push_back(std::move(memory));
    }
  }
  return common::SharedMemory::Map(path, bytes, common::SharedMemory::Access::kReadWrite);
}

void ClientCore::KeepMapping(const std::string& path, common::SharedMemory memory) {
  std::lock_guard lock(mutex_);
  mappings_[path] = std::move(memory);
}

}  // namespace rekindle::checkpoint
