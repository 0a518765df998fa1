// Allocates the memory of a GPU, and pinned memory of the host.
#ifndef REKINDLE_WORKER_DEVICE_CUDA_CUDA_MEMORY_H_
#define REKINDLE_WORKER_DEVICE_CUDA_CUDA_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/sync/mutex.h"
#include "kernels/cuda/plugin_api.h"
#include "worker/device/contract/device.h"
#include "worker/device/contract/memory.h"
#include "worker/device/cuda/cuda_call.h"

namespace rekindle::device {

enum class CudaMemoryKind { kDevice, kPinned };

class CudaHeap;

// One block serves both kinds of memory, which differ only in how they are allocated and freed.
class CudaBlock final : public PinnedBlock {
 public:
  CudaBlock(CudaHeap& heap, CudaMemoryKind kind, int64_t bytes, const std::string& purpose, void* memory)
      : PinnedBlock(bytes, purpose), heap_(heap), kind_(kind), memory_(memory) {}
  ~CudaBlock() override;
  std::byte* HostAddress(int64_t offset, int64_t, bool) override { return At(offset); }
  std::byte* At(int64_t offset) const { return static_cast<std::byte*>(memory_) + offset; }

 private:
  CudaHeap& heap_;
  const CudaMemoryKind kind_;
  void* const memory_;
};

// The class is thread-safe, and outlives its blocks.
class CudaHeap {
 public:
  // `api` and `error` must outlive the heap.
  CudaHeap(const RekindleCudaDevice& api, CudaError& error) : api_(api), error_(error) {}

  // Returns RESOURCE_EXHAUSTED if there is no room.
  absl::StatusOr<std::unique_ptr<CudaBlock>> Take(CudaMemoryKind kind, int64_t bytes, const std::string& purpose);
  void Give(CudaMemoryKind kind, int64_t bytes, void* memory);

  // Pinned memory does not count.
  AllocatedBytes allocated() const;

  // Frees nothing from now on, because the driver would wait for a queue that was left. Memory is kept for the next
  // block of the same size. `await` waits until no other queue uses it any more.
  void KeepAll(std::function<void()> await);

 private:
  // Counts memory of the device that was allocated, or with a negative number freed.
  void Count(int64_t bytes);
  absl::Status NoRoomFor(CudaMemoryKind kind, int64_t bytes, const std::string& purpose);

  const RekindleCudaDevice& api_;
  CudaError& error_;
  mutable common::Mutex mutex_;
  AllocatedBytes allocated_ ABSL_GUARDED_BY(mutex_);
  // `await_` is null as long as memory is freed.
  std::function<void()> await_ ABSL_GUARDED_BY(mutex_);
  std::multimap<std::pair<CudaMemoryKind, int64_t>, void*> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CUDA_CUDA_MEMORY_H_
