#include "worker/device/fake/fake_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check/check.h"
#include "common/sync/mutex.h"

namespace rekindle::device {
namespace {

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t WholePages(size_t bytes) { return (bytes + PageBytes() - 1) / PageBytes() * PageBytes(); }

// Keeps the addresses of freed memory out of use, so that whoever still uses them meets a fault and not another's data.
// The kernel allows a process some 65,000 mappings, so the oldest addresses are given back at some point.
class Graveyard {
 public:
  void Bury(std::byte* address, size_t bytes) {
    constexpr size_t kMost = 4096;
    constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    common::Check(mmap(address, bytes, PROT_NONE, kNothing, -1, 0) != MAP_FAILED, "freed memory can be closed");
    const common::MutexLock lock(mutex_);
    graves_.emplace_back(address, bytes);
    if (graves_.size() <= kMost) return;
    munmap(graves_.front().first, graves_.front().second);
    graves_.pop_front();
  }

 private:
  common::Mutex mutex_;
  std::deque<std::pair<std::byte*, size_t>> graves_ ABSL_GUARDED_BY(mutex_);
};

Graveyard& FreedMemory() {
  static auto* const graveyard = new Graveyard;
  return *graveyard;
}

constexpr int kFresh = 0xff;

}  // namespace

FakeMemory::FakeMemory(std::byte* address, size_t bytes)
    : address_(address), bytes_(bytes), openers_(bytes / PageBytes()) {}

FakeMemory::FakeMemory(FakeMemory&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)), bytes_(other.bytes_), openers_(std::move(other.openers_)) {}

FakeMemory::~FakeMemory() {
  if (address_ != nullptr) FreedMemory().Bury(address_ - PageBytes(), bytes_ + 2 * PageBytes());
}

absl::StatusOr<FakeMemory> FakeMemory::Make(int64_t bytes) {
  const size_t inner = WholePages(static_cast<size_t>(bytes)), outer = inner + 2 * PageBytes();
  void* memory = mmap(nullptr, outer, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat("the system maps no ", bytes, " bytes: ", strerror(errno)));
  }
  std::byte* address = static_cast<std::byte*>(memory) + PageBytes();
  if (inner > 0) {
    common::Check(mprotect(address, inner, PROT_READ | PROT_WRITE) == 0, "mapped memory can be opened");
    std::memset(address, kFresh, inner);
    common::Check(mprotect(address, inner, PROT_NONE) == 0, "mapped memory can be closed");
  }
  return FakeMemory(address, inner);
}

void FakeMemory::Scribble(int64_t offset, int64_t bytes) {
  Open(offset, bytes, true);
  std::memset(address_ + offset, kFresh, static_cast<size_t>(bytes));
  Close(offset, bytes, true);
}

void FakeMemory::Count(int64_t offset, int64_t bytes, bool writes, int change) {
  if (bytes == 0) return;
  const auto protection = [](const Openers& page) {
    return page.writers > 0 ? PROT_READ | PROT_WRITE : page.readers > 0 ? PROT_READ : PROT_NONE;
  };
  const size_t first = static_cast<size_t>(offset) / PageBytes();
  const size_t end = WholePages(static_cast<size_t>(offset + bytes)) / PageBytes();
  for (size_t page = first; page < end; ++page) (writes ? openers_[page].writers : openers_[page].readers) += change;
  // Neighbouring pages that get the same protection are changed by one call.
  size_t begin = first;
  for (size_t page = first + 1; page <= end; ++page) {
    if (page < end && protection(openers_[page]) == protection(openers_[begin])) continue;
    const int changed =
        mprotect(address_ + begin * PageBytes(), (page - begin) * PageBytes(), protection(openers_[begin]));
    common::Check(changed == 0, "the pages of an operation can be opened and closed");
    begin = page;
  }
}

}  // namespace rekindle::device
