// Memory that the host cannot touch: every access to it ends the process, and a system call with its address fails.
// Only while an operation runs can it be reached, and then as far as the operation has said.
#ifndef REKINDLE_WORKER_DEVICE_FAKE_FAKE_MEMORY_H_
#define REKINDLE_WORKER_DEVICE_FAKE_FAKE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::device {

// Owns whole pages. Fresh memory is full of bytes 0xff, which are NaNs as floats. Before and behind the memory lie
// pages that nobody may touch. The addresses of freed memory are not used again for long, so an access to it faults as
// well. The class is thread-compatible.
class FakeMemory {
 public:
  // Returns RESOURCE_EXHAUSTED if the system gives no memory.
  static absl::StatusOr<FakeMemory> Make(int64_t bytes);
  FakeMemory(FakeMemory&& other) noexcept;
  FakeMemory& operator=(FakeMemory&&) = delete;
  ~FakeMemory();

  std::byte* address() const { return address_; }

  // Opens and closes the pages of the bytes [offset, offset + bytes) for an operation. Pages that are open more than
  // once stay open until each has been closed, and can be written if one of the openers may write.
  void Open(int64_t offset, int64_t bytes, bool writes) { Count(offset, bytes, writes, 1); }
  void Close(int64_t offset, int64_t bytes, bool writes) { Count(offset, bytes, writes, -1); }

  // Fills bytes with 0xff, as in fresh memory.
  void Scribble(int64_t offset, int64_t bytes);

 private:
  // Counts the operations for which a page is open.
  struct Openers {
    int readers = 0;
    int writers = 0;
  };

  FakeMemory(std::byte* address, size_t bytes);
  void Count(int64_t offset, int64_t bytes, bool writes, int change);

  std::byte* address_;
  size_t bytes_;
  // `openers_` has one element for each page.
  std::vector<Openers> openers_;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_FAKE_FAKE_MEMORY_H_
