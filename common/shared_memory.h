// Segments of shared memory: files in /dev/shm (or another tmpfs), pre-faulted, so that a full one is an error at
// creation and never a SIGBUS later.
#ifndef REKINDLE_COMMON_SHARED_MEMORY_H_
#define REKINDLE_COMMON_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

// A mapping; unmapped on destruction (the file stays until RemoveSharedMemory). Movable. The bytes are the
// caller's to synchronise.
class SharedMemory {
 public:
  enum class Access { kRead, kReadWrite };

  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // Creates and maps it; zeroed. Errors as CreateSharedMemory.
  static absl::StatusOr<SharedMemory> Create(const std::string& path, size_t bytes);
  // Maps an existing one and its pages. INVALID_ARGUMENT when its size is not exactly `bytes`.
  static absl::StatusOr<SharedMemory> Map(const std::string& path, size_t bytes, Access access);

  // Whether the file at `path` is the one that is mapped.
  bool IsOf(const std::string& path) const;
  // And has the size of the mapping: all of it may be touched.
  bool IsAllOf(const std::string& path) const;

  uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<uint8_t> span() const { return {data_, size_}; }

 private:
  SharedMemory(uint8_t* data, size_t size) : data_(data), size_(size) {}
  // Empty: another file, or none.
  std::optional<size_t> SizeOfFile(const std::string& path) const;
  static absl::StatusOr<SharedMemory> MapDescriptor(int fd, const std::string& path, size_t bytes, Access access);

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// Creates a segment with all its pages there, without mapping it; readable and writable by this user only.
// `bytes` >= 1. Errors: ALREADY_EXISTS; RESOURCE_EXHAUSTED, which names the folder, when it has no room (nothing
// is left behind then).
absl::Status CreateSharedMemory(const std::string& path, size_t bytes);
// Gives it another size (>= 1). What it loses is given back, and mappings of that must not be touched any more; what it
// gains is zero. Errors as CreateSharedMemory; it keeps its size then.
absl::Status ResizeSharedMemory(const std::string& path, size_t bytes);
// OK when it is gone, also when it was not there. Mappings stay valid.
absl::Status RemoveSharedMemory(const std::string& path);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SHARED_MEMORY_H_
