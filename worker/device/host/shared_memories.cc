#include "worker/device/host/shared_memories.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/memory/huge_pages.h"
#include "common/memory/memory_limit.h"

namespace rekindle::device {
namespace {

// Linux has the seal since 5.1, and older headers do not name it.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

}  // namespace

SharedMemories::~SharedMemories() {
  const common::MutexLock lock(mutex_);
  for (const auto& [memory, mapping] : mappings_) munmap(memory, mapping.bytes);
}

absl::StatusOr<void*> SharedMemories::Make(size_t bytes, const std::string& purpose) {
  const auto no_room = [&](int error) {
    return absl::ResourceExhaustedError(absl::StrCat("no shared memory for ", purpose, " (",
                                                     common::BytesText(static_cast<double>(bytes)),
                                                     "): ", std::strerror(error)));
  };
  common::UniqueFd file(memfd_create("rekindle-state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return no_room(errno);
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return no_room(errno);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return no_room(errno);
  if (const int error = common::FillMappedFile(file.get(), memory, bytes); error != 0) {
    munmap(memory, bytes);
    return no_room(error);
  }
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    const int error = errno;
    munmap(memory, bytes);
    return absl::InternalError(absl::StrCat("cannot seal shared memory: ", std::strerror(error)));
  }
  const common::MutexLock lock(mutex_);
  mappings_[static_cast<std::byte*>(memory)] = {.bytes = bytes, .file = std::move(file), .number = ++made_};
  return memory;
}

void SharedMemories::End(void* memory) {
  const common::MutexLock lock(mutex_);
  const auto found = mappings_.find(static_cast<std::byte*>(memory));
  if (found == mappings_.end()) return;
  munmap(memory, found->second.bytes);
  mappings_.erase(found);
}

std::optional<SharedPart> SharedMemories::Find(const void* address) const {
  const common::MutexLock lock(mutex_);
  const auto* const at = static_cast<const std::byte*>(address);
  auto next = mappings_.upper_bound(const_cast<std::byte*>(at));
  if (next == mappings_.begin()) return std::nullopt;
  const auto& [begin, mapping] = *--next;
  if (at >= begin + mapping.bytes) return std::nullopt;
  return SharedPart{
      .descriptor = mapping.file.get(), .offset = static_cast<uint64_t>(at - begin), .mapping = mapping.number};
}

}  // namespace rekindle::device
