#include "worker/device/fake/fake_heap.h"

#include <algorithm>
#include <utility>

#include "worker/device/contract/device.h"

namespace rekindle::device {
namespace {

// Returns the units of kCommitBytes that a range has a part of.
std::pair<size_t, size_t> UnitsOf(const Range& range) {
  const int64_t end = (range.offset + range.bytes + kCommitBytes - 1) / kCommitBytes;
  return {static_cast<size_t>(range.offset / kCommitBytes), static_cast<size_t>(end)};
}

}  // namespace

std::byte* FakePages::Open(const Range& range, bool writes) {
  const common::MutexLock lock(mutex_);
  memory_.Open(range.offset, range.bytes, writes);
  return memory_.address() + range.offset;
}

void FakePages::Close(const Range& range, bool writes) {
  const common::MutexLock lock(mutex_);
  memory_.Close(range.offset, range.bytes, writes);
}

void FakePages::Refresh() {
  const common::MutexLock lock(mutex_);
  memory_.Scribble(0, bytes_);
}

void FakePages::DecommitAll() {
  const common::MutexLock lock(mutex_);
  committed_.assign(UnitsOf({.bytes = bytes_}).second, 0);
}

void FakePages::SetCommitted(const Range& range, bool committed) {
  const common::MutexLock lock(mutex_);
  const auto [begin, end] = UnitsOf(range);
  for (size_t unit = begin; unit < end; ++unit) committed_[unit] = committed ? 1 : 0;
  memory_.Scribble(range.offset, range.bytes);
}

bool FakePages::IsCommitted(const Range& range) {
  const common::MutexLock lock(mutex_);
  if (committed_.empty()) return true;
  const auto [begin, end] = UnitsOf(range);
  for (size_t unit = begin; unit < end; ++unit) {
    if (committed_[unit] == 0) return false;
  }
  return true;
}

absl::Status FakeHeap::Count(int64_t bytes, const std::string& purpose) {
  const int64_t free = bytes_ - used_;
  if (bytes > free) return NoRoom(static_cast<double>(free), static_cast<double>(bytes_), bytes, purpose);
  used_ += bytes;
  most_used_ = std::max(most_used_, used_);
  return absl::OkStatus();
}

AllocatedBytes FakeHeap::allocated() const {
  const common::MutexLock lock(mutex_);
  return {.now = used_, .peak = most_used_};
}

absl::StatusOr<std::shared_ptr<FakePages>> FakeHeap::Take(int64_t bytes, const std::string& purpose) {
  {
    const common::MutexLock lock(mutex_);
    if (const auto kept = kept_.find(bytes); kept != kept_.end()) {
      std::shared_ptr<FakePages> pages = std::move(kept->second);
      kept_.erase(kept);
      pages->Refresh();
      return pages;
    }
    if (absl::Status counted = Count(bytes, purpose); !counted.ok()) return counted;
  }
  absl::StatusOr<FakeMemory> memory = FakeMemory::Make(bytes);
  if (memory.ok()) return std::make_shared<FakePages>(bytes, *std::move(memory));
  const common::MutexLock lock(mutex_);
  used_ -= bytes;
  return memory.status();
}

void FakeHeap::Give(std::shared_ptr<FakePages> pages) {
  const common::MutexLock lock(mutex_);
  const int64_t bytes = pages->bytes();
  if (keeps_) {
    kept_.emplace(bytes, std::move(pages));
  } else {
    used_ -= bytes;
  }
}

absl::Status FakeHeap::TakeUnits(int64_t bytes, const std::string& purpose) {
  const common::MutexLock lock(mutex_);
  const int64_t kept = std::min(bytes, kept_units_);
  absl::Status counted = Count(bytes - kept, purpose);
  if (counted.ok()) kept_units_ -= kept;
  return counted;
}

void FakeHeap::GiveUnits(int64_t bytes) {
  const common::MutexLock lock(mutex_);
  if (keeps_) {
    kept_units_ += bytes;
  } else {
    used_ -= bytes;
  }
}

void FakeHeap::KeepAll() {
  const common::MutexLock lock(mutex_);
  keeps_ = true;
}

}  // namespace rekindle::device
