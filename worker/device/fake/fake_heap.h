// Counts the memory of a fake device, and keeps what is freed once a queue was left.
#ifndef REKINDLE_WORKER_DEVICE_FAKE_FAKE_HEAP_H_
#define REKINDLE_WORKER_DEVICE_FAKE_FAKE_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "worker/device/contract/device.h"
#include "worker/device/contract/memory.h"
#include "worker/device/fake/fake_memory.h"

namespace rekindle::device {

// Is the memory behind a block. An operation that runs shares it, because one of a queue that was left may outlive the
// block. The class is thread-safe.
class FakePages {
 public:
  FakePages(int64_t bytes, FakeMemory memory) : bytes_(bytes), memory_(std::move(memory)) {}

  int64_t bytes() const { return bytes_; }

  // Opens a range for an operation, or closes it again. Operations of two queues may do so at once.
  std::byte* Open(const Range& range, bool writes);
  void Close(const Range& range, bool writes);

  // Fills the memory with what fresh memory has.
  void Refresh();
  // Takes all of its memory away. SetCommitted() gives and takes parts of it.
  void DecommitAll();
  void SetCommitted(const Range& range, bool committed);
  bool IsCommitted(const Range& range);

 private:
  const int64_t bytes_;
  common::Mutex mutex_;
  FakeMemory memory_ ABSL_GUARDED_BY(mutex_);
  // `committed_` has an element for each kCommitBytes of reserved memory. It is empty for memory that was allocated.
  std::vector<uint8_t> committed_ ABSL_GUARDED_BY(mutex_);
};

// The class is thread-safe.
class FakeHeap {
 public:
  explicit FakeHeap(int64_t bytes) : bytes_(bytes) {}

  // Returns memory, which counts. Returns RESOURCE_EXHAUSTED if there is no room for it, as does TakeUnits().
  absl::StatusOr<std::shared_ptr<FakePages>> Take(int64_t bytes, const std::string& purpose);
  void Give(std::shared_ptr<FakePages> pages);

  // TakeUnits() and GiveUnits() count the memory of reserved addresses.
  absl::Status TakeUnits(int64_t bytes, const std::string& purpose);
  void GiveUnits(int64_t bytes);

  // Keeps from now on what is given back, for those who take the same size.
  void KeepAll();
  AllocatedBytes allocated() const;

 private:
  absl::Status Count(int64_t bytes, const std::string& purpose) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t bytes_;
  mutable common::Mutex mutex_;
  bool keeps_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t most_used_ ABSL_GUARDED_BY(mutex_) = 0;
  // `kept_` has memory by its size, and `kept_units_` counts that of reserved addresses. Both count as used.
  std::multimap<int64_t, std::shared_ptr<FakePages>> kept_ ABSL_GUARDED_BY(mutex_);
  int64_t kept_units_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_FAKE_FAKE_HEAP_H_
