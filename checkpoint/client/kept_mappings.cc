#include "checkpoint/client/kept_mappings.h"

#include <iterator>
#include <utility>
#include <vector>

#include "common/sync/mutex.h"

namespace rekindle::checkpoint {

absl::StatusOr<common::SharedMemory> KeptMappings::Take(const std::string& path, size_t bytes) {
  common::SharedMemory kept;
  {
    const common::MutexLock lock(mutex_);
    if (auto found = kept_.extract(path); !found.empty()) kept = std::move(found.mapped());
  }
  if (kept.size() == bytes && kept.IsAllOf(path)) return kept;
  return common::SharedMemory::Map(path, bytes, access_);
}

void KeptMappings::Keep(const std::string& path, common::SharedMemory memory) {
  DropStale();
  const common::MutexLock lock(mutex_);
  kept_[path] = std::move(memory);
}

void KeptMappings::DropStale() {
  // Stale mappings are destroyed after the lock is released, because to unmap memory takes long.
  std::vector<common::SharedMemory> stale;
  const common::MutexLock lock(mutex_);
  for (auto at = kept_.begin(); at != kept_.end();) {
    const auto next = std::next(at);
    if (!at->second.IsOf(at->first)) {
      stale.push_back(std::move(at->second));
      kept_.erase(at);
    }
    at = next;
  }
}

}  // namespace rekindle::checkpoint
