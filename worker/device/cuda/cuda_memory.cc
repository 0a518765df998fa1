#include "worker/device/cuda/cuda_memory.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/memory/memory_limit.h"
#include "worker/device/cuda/cuda_errors.h"

namespace rekindle::device {

CudaBlock::~CudaBlock() { heap_.Give(kind_, bytes(), memory_); }

absl::StatusOr<std::unique_ptr<CudaBlock>> CudaHeap::Take(CudaMemoryKind kind, int64_t bytes,
                                                          const std::string& purpose) {
  if (absl::Status status = error_.status(); !status.ok()) return status;
  void* memory = nullptr;
  {
    const common::MutexLock lock(mutex_);
    if (const auto kept = kept_.find({kind, bytes}); kept != kept_.end()) {
      memory = kept->second;
      kept_.erase(kept);
    }
  }
  if (memory == nullptr) {
    const auto allocate = kind == CudaMemoryKind::kPinned ? api_.allocate_pinned : api_.allocate;
    const CudaOutcome outcome = CallCuda(allocate, static_cast<size_t>(bytes), &memory);
    if (IsOutOfDeviceMemory(outcome.code)) return NoRoomFor(kind, bytes, purpose);
    if (absl::Status status = error_.Note(outcome); !status.ok()) return status;
    if (kind == CudaMemoryKind::kDevice) Count(bytes);
  }
  return std::make_unique<CudaBlock>(*this, kind, bytes, purpose, memory);
}

absl::Status CudaHeap::NoRoomFor(CudaMemoryKind kind, int64_t bytes, const std::string& purpose) {
  if (kind == CudaMemoryKind::kPinned) {
    return absl::ResourceExhaustedError(absl::StrCat("the host has no pinned memory for ", purpose, " (",
                                                     common::BytesText(static_cast<double>(bytes)), ")"));
  }
  size_t free_bytes = 0, all_bytes = 0;
  (void)CallCuda(api_.memory, &free_bytes, &all_bytes);
  return NoRoom(static_cast<double>(free_bytes), static_cast<double>(all_bytes), bytes, purpose);
}

void CudaHeap::Give(CudaMemoryKind kind, int64_t bytes, void* memory) {
  std::function<void()> await;
  {
    const common::MutexLock lock(mutex_);
    await = await_;
  }
  if (await == nullptr) {
    if (kind == CudaMemoryKind::kDevice) Count(-bytes);
    (void)error_.Note(CallCuda(kind == CudaMemoryKind::kPinned ? api_.release_pinned : api_.release, memory));
    return;
  }
  await();
  const common::MutexLock lock(mutex_);
  kept_.emplace(std::pair(kind, bytes), memory);
}

void CudaHeap::Count(int64_t bytes) {
  const common::MutexLock lock(mutex_);
  allocated_.now += bytes;
  allocated_.peak = std::max(allocated_.peak, allocated_.now);
}

AllocatedBytes CudaHeap::allocated() const {
  const common::MutexLock lock(mutex_);
  return allocated_;
}

void CudaHeap::KeepAll(std::function<void()> await) {
  const common::MutexLock lock(mutex_);
  await_ = std::move(await);
}

}  // namespace rekindle::device
