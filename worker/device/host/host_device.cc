#include "worker/device/host/host_device.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/memory/huge_pages.h"
#include "common/memory/memory.h"
#include "common/sync/mutex.h"

namespace rekindle::device {
namespace {

constexpr int64_t kAlignment = 64;

// One block serves both as the device's memory and as pinned memory, because the processor reaches both alike.
class HostBlock final : public PinnedBlock {
 public:
  HostBlock(int64_t bytes, const std::string& purpose, void* memory)
      : PinnedBlock(bytes, purpose), memory_(static_cast<std::byte*>(memory)) {}
  ~HostBlock() override { std::free(memory_); }

  std::byte* HostAddress(int64_t offset, int64_t, bool) override { return memory_ + offset; }
  std::byte* At(int64_t offset) const { return memory_ + offset; }

 private:
  std::byte* const memory_;
};

std::byte* AddressOf(const Range& range) { return static_cast<const HostBlock*>(range.block)->At(range.offset); }

absl::StatusOr<std::unique_ptr<HostBlock>> MakeBlock(int64_t bytes, const std::string& purpose) {
  void* memory = common::AllocateLarge(static_cast<size_t>((bytes + kAlignment) / kAlignment * kAlignment));
  if (memory != nullptr) return std::make_unique<HostBlock>(bytes, purpose, memory);
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for ", purpose, " (", common::BytesText(static_cast<double>(bytes)), ")"));
}

class HostDevice final : public Device {
 public:
  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<HostBlock>> block = MakeBlock(bytes, purpose);
    if (!block.ok()) return block.status();
    return Memory(*std::move(block));
  }

  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<HostBlock>> block = MakeBlock(bytes, purpose);
    if (!block.ok()) return block.status();
    return PinnedMemory(*std::move(block));
  }

  void Run(Queue, Operation operation) override {
    if (!Error().ok()) return;
    const absl::Status status = operation.run(AddressesOf(operation, AddressOf));
    if (status.ok()) return;
    const common::MutexLock lock(mutex_);
    error_.Update(status);
  }

  Mark Record(Queue) override { return {}; }
  void After(Queue, const Mark&) override {}

  absl::StatusOr<bool> Passed(const Mark&) override {
    const absl::Status error = Error();
    if (!error.ok()) return error;
    return true;
  }
  absl::Status Await(const Mark&, const std::function<bool()>&) override { return Error(); }

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

  common::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Device> MakeHostDevice() { return std::make_unique<HostDevice>(); }

}  // namespace rekindle::device
