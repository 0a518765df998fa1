#include "checkpoint/client_core.h"

#include <iterator>

namespace rekindle::checkpoint {

absl::StatusOr<common::SharedMemory> ClientCore::MapToFill(const std::string& path, size_t bytes) {
  common::SharedMemory kept;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = mappings_.find(path); found != mappings_.end()) {
      kept = std::move(found->second);
      mappings_.erase(found);
    }
  }
  if (kept.size() == bytes && kept.IsOf(path)) return kept;
  return common::SharedMemory::Map(path, bytes, common::SharedMemory::Access::kReadWrite);
}

void ClientCore::DropStaleMappings() {
  std::vector<common::SharedMemory> stale;  // Unmapped without the lock.
  std::lock_guard lock(mutex_);
  for (auto at = mappings_.begin(); at != mappings_.end();) {
    const auto next = std::next(at);
    if (!at->second.IsOf(at->first)) {
      stale.push_back(std::move(at->second));
      mappings_.erase(at);
    }
    at = next;
  }
}

void ClientCore::KeepMapping(const std::string& path, common::SharedMemory memory) {
  std::lock_guard lock(mutex_);
  mappings_[path] = std::move(memory);
}

}  // namespace rekindle::checkpoint
