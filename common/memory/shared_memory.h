// Manages segments of shared memory: files in /dev/shm or another tmpfs. They are pre-faulted, so that a full tmpfs is
// an error at creation and never a SIGBUS later.
#ifndef REKINDLE_COMMON_MEMORY_SHARED_MEMORY_H_
#define REKINDLE_COMMON_MEMORY_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

// Owns the mapping of a segment, which is unmapped on destruction. The segment's file stays until RemoveSharedMemory.
// It is movable. The caller must synchronise access to the bytes.
class SharedMemory {
 public:
  enum class Access { kRead, kReadWrite };

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // Creates a zeroed segment and maps it. Returns the errors of CreateSharedMemory.
  static absl::StatusOr<SharedMemory> Create(const std::string& path, size_t bytes);
  // Maps an existing segment and faults its pages in. Returns INVALID_ARGUMENT if its size is not exactly `bytes`.
  static absl::StatusOr<SharedMemory> Map(const std::string& path, size_t bytes, Access access);

  // Returns whether the file at `path` is the one that this object has mapped.
  bool IsOf(const std::string& path) const;
  // Returns whether the file at `path` is the one that this object has mapped and still has the size of the mapping, so
  // that the whole mapping may be touched.
  bool IsAllOf(const std::string& path) const;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<uint8_t> span() const { return {data_, size_}; }

 private:
  SharedMemory(uint8_t* data, size_t size) : data_(data), size_(size) {}
  // Returns the size of the file at `path` if it is the one that this object has mapped, and otherwise nothing.
  std::optional<size_t> SizeOfFile(const std::string& path) const;
  static absl::StatusOr<SharedMemory> MapDescriptor(int fd, const std::string& path, size_t bytes, Access access);

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// Creates a segment of `bytes` >= 1 with all its pages, without mapping it. Only this user can read and write it.
// Returns ALREADY_EXISTS, or RESOURCE_EXHAUSTED with the name of the folder if the folder has no room. Nothing is left
// behind in that case.
absl::Status CreateSharedMemory(const std::string& path, size_t bytes);
// Changes the size of a segment to `bytes` >= 1. If it shrinks, the memory beyond `bytes` is given back, and nobody may
// touch that part of a mapping any more. If it grows, the new part is zero. Returns the errors of CreateSharedMemory,
// and the size is unchanged then.
absl::Status ResizeSharedMemory(const std::string& path, size_t bytes);
// Removes a segment. Returns OK if it is gone, also if it was not there before. Mappings stay valid.
absl::Status RemoveSharedMemory(const std::string& path);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_MEMORY_SHARED_MEMORY_H_
