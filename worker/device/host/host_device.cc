#include "worker/device/host/host_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/memory/huge_pages.h"
#include "common/memory/memory_limit.h"
#include "common/sync/mutex.h"

namespace rekindle::device {
namespace {

constexpr int64_t kAlignment = 64;

// One block serves both as the device's memory and as pinned memory, because the processor reaches both alike.
class HostBlock : public PinnedBlock {
 public:
  // `mapped` is the number of bytes to unmap at the end, or 0 for memory from the heap.
  HostBlock(int64_t bytes, const std::string& purpose, void* memory, size_t mapped = 0)
      : PinnedBlock(bytes, purpose), memory_(static_cast<std::byte*>(memory)), mapped_(mapped) {}
  ~HostBlock() override {
    if (memory_ != nullptr && mapped_ > 0) {
      munmap(memory_, mapped_);
    } else {
      std::free(memory_);
    }
  }

  std::byte* HostAddress(int64_t offset, int64_t, bool) override { return memory_ + offset; }
  std::byte* At(int64_t offset) const { return memory_ + offset; }

  // Gives the memory of a part back to the system. The part lies at whole pages, except at the end of the block.
  void Drop(int64_t offset, int64_t count) const {
    const size_t end = offset + count == bytes() ? mapped_ : static_cast<size_t>(offset + count);
    (void)madvise(At(offset), end - static_cast<size_t>(offset), MADV_DONTNEED);
  }

 protected:
  // Returns the memory, which the caller owns from then on.
  void* Release() { return std::exchange(memory_, nullptr); }

 private:
  std::byte* memory_;
  const size_t mapped_;
};

std::byte* AddressOf(const Range& range) { return static_cast<const HostBlock*>(range.block)->At(range.offset); }

absl::StatusOr<std::unique_ptr<HostBlock>> MakeBlock(int64_t bytes, const std::string& purpose) {
  void* memory = common::AllocateLarge(static_cast<size_t>((bytes + kAlignment) / kAlignment * kAlignment));
  if (memory != nullptr) return std::make_unique<HostBlock>(bytes, purpose, memory);
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for ", purpose, " (", common::BytesText(static_cast<double>(bytes)), ")"));
}

// Is memory that other processes may read.
class SharedBlock final : public HostBlock {
 public:
  SharedBlock(int64_t bytes, const std::string& purpose, void* memory, SharedMemories& shares)
      : HostBlock(bytes, purpose, memory), shares_(shares) {}
  ~SharedBlock() override { shares_.End(Release()); }

 private:
  SharedMemories& shares_;
};

class HostDevice final : public Device {
 public:
  explicit HostDevice(SharedMemories* shares) : shares_(shares) {}

  bool IsHost() const override { return true; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<HostBlock>> block = MakeBlock(bytes, purpose);
    if (!block.ok()) return block.status();
    return Memory(*std::move(block));
  }

  absl::StatusOr<Memory> AllocateReadable(int64_t bytes, const std::string& purpose) override {
    if (shares_ == nullptr) return Allocate(bytes, purpose);
    const absl::StatusOr<void*> memory = shares_->Make(static_cast<size_t>(std::max<int64_t>(bytes, 1)), purpose);
    if (!memory.ok()) return memory.status();
    return Memory(std::make_unique<SharedBlock>(bytes, purpose, *memory, *shares_));
  }

  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<HostBlock>> block = MakeBlock(bytes, purpose);
    if (!block.ok()) return block.status();
    return PinnedMemory(*std::move(block));
  }

  // The system gives memory to a page of reserved memory when somebody first writes there.
  absl::StatusOr<Memory> Reserve(int64_t bytes, const std::string& purpose) override {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t mapped = (static_cast<size_t>(bytes) / page + 1) * page;
    void* memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return Memory(std::make_unique<HostBlock>(bytes, purpose, memory, mapped));
    return absl::ResourceExhaustedError(absl::StrCat("no addresses for ", purpose, ": ", strerror(errno)));
  }
  absl::Status Commit(const Range&) override { return absl::OkStatus(); }
  void Decommit(const Range& range) override {
    static_cast<const HostBlock*>(range.block)->Drop(range.offset, range.bytes);
  }

  void Run(Queue, Operation operation) override {
    if (!Error().ok()) return;
    const absl::Status status = RunOnHost(operation, AddressesOf(operation, AddressOf));
    if (status.ok()) return;
    const common::MutexLock lock(mutex_);
    error_.Update(status);
  }

  Mark Record(Queue) override { return {}; }
  void After(Queue, const Mark&, Place) override {}

  absl::StatusOr<bool> Passed(const Mark&) override {
    const absl::Status error = Error();
    if (!error.ok()) return error;
    return true;
  }
  absl::Status Await(const Mark&, const std::function<bool()>&, Place) override { return Error(); }

  // Nothing is queued on the host.
  void Leave(Queue) override {}

  Health Look() override {
    const absl::Status error = Error();
    if (error.ok()) return {};
    return {.state = Health::State::kContextLost, .words = std::string(error.message())};
  }

 private:
  absl::Status Error() {
    const common::MutexLock lock(mutex_);
    return error_;
  }

  SharedMemories* const shares_;
  common::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Device> MakeHostDevice(SharedMemories* shares) { return std::make_unique<HostDevice>(shares); }

}  // namespace rekindle::device
