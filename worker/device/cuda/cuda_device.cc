#include "worker/device/cuda/cuda_device.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "worker/device/cuda/cuda_call.h"
#include "worker/device/cuda/cuda_errors.h"
#include "worker/device/cuda/cuda_memory.h"

namespace rekindle::device {
namespace {

// Only the driver can tell that a mark has passed, so a thread that waits asks it. It asks without a pause at first,
// because most waits are short.
constexpr int kAsksWithoutPause = 2000;
constexpr auto kPause = std::chrono::microseconds(50);

std::byte* AddressOf(const Range& range) { return static_cast<const CudaBlock*>(range.block)->At(range.offset); }

// Keeps events for marks, because it takes the driver microseconds to make one. The class is thread-safe and outlives
// the marks that it gives out.
class MarkPool {
 public:
  MarkPool(const RekindleCudaDevice& api, CudaError& error) : api_(api), error_(error) {}
  ~MarkPool() {
    const common::MutexLock lock(mutex_);
    for (void* mark : free_) (void)CallCuda(api_.end_mark, mark);
  }

  // Returns null after an error.
  void* Take() {
    {
      const common::MutexLock lock(mutex_);
      if (!free_.empty()) {
        void* mark = free_.back();
        free_.pop_back();
        return mark;
      }
    }
    void* mark = nullptr;
    return error_.Note(CallCuda(api_.make_mark, &mark)).ok() ? mark : nullptr;
  }
  void Return(void* mark) {
    const common::MutexLock lock(mutex_);
    free_.push_back(mark);
  }

 private:
  const RekindleCudaDevice& api_;
  CudaError& error_;
  common::Mutex mutex_;
  std::vector<void*> free_ ABSL_GUARDED_BY(mutex_);
};

struct CudaMark final : MarkState {
  CudaMark(std::shared_ptr<MarkPool> p, void* e) : pool(std::move(p)), event(e) {}
  ~CudaMark() override { pool->Return(event); }
  const std::shared_ptr<MarkPool> pool;
  void* const event;
};

const CudaMark* StateOf(const Mark& mark) { return static_cast<const CudaMark*>(mark.state.get()); }

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const RekindleCudaApi& api) : api_(api), device_(*api.device) {}
  ~CudaDevice() override {
    marks_.reset();
    for (size_t i = 0; i < kQueues; ++i) {
      if (queues_[i] != nullptr && !left_[i]) (void)CallCuda(device_.end_queue, queues_[i]);
    }
  }

  absl::Status Start() {
    for (const Queue queue : {Queue::kCompute, Queue::kExchange, Queue::kNccl, Queue::kSnapshot}) {
      const uint32_t urgent = queue == Queue::kExchange || queue == Queue::kNccl ? 1 : 0;
      const CudaOutcome made = CallCuda(device_.make_queue, urgent, &queues_[static_cast<size_t>(queue)]);
      if (made.code != 0) return absl::FailedPreconditionError(absl::StrCat("the GPU does not answer: ", made.words));
    }
    return absl::OkStatus();
  }

  bool IsHost() const override { return false; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<CudaBlock>> block = heap_.Take(CudaMemoryKind::kDevice, bytes, purpose);
    if (!block.ok()) return block.status();
    return Memory(*std::move(block));
  }
  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<CudaBlock>> block = heap_.Take(CudaMemoryKind::kPinned, bytes, purpose);
    if (!block.ok()) return block.status();
    return PinnedMemory(*std::move(block));
  }

  // All of the memory is there from the reservation on.
  absl::StatusOr<Memory> Reserve(int64_t bytes, const std::string& purpose) override {
    return Allocate(bytes, purpose);
  }
  AllocatedBytes Allocated() const override { return heap_.allocated(); }
  absl::Status Commit(const Range&) override { return error_.status(); }
  void Decommit(const Range&) override {}

  void Run(Queue queue, Operation operation) override {
    if (!error_.status().ok()) return;
    if (operation.launch == nullptr) {
      (void)error_.Break(Health::State::kContextLost,
                         absl::StrCat("the operation '", operation.name, "' has no form for a GPU"));
      return;
    }
    char words[kCudaErrorBytes] = "";
    const Launch on{.kernels = api_.kernels, .queue = At(queue), .error = words, .error_size = sizeof words};
    const int code = operation.launch(AddressesOf(operation, AddressOf), on);
    if (code != 0) {
      (void)error_.Break(StateAfter(code), absl::StrCat("the operation '", operation.name, "': ", words));
    }
  }

  Mark Record(Queue queue) override {
    void* event = error_.status().ok() ? marks_->Take() : nullptr;
    if (event == nullptr) return {};
    Mark mark{std::make_shared<CudaMark>(marks_, event)};
    (void)error_.Note(CallCuda(device_.record, event, At(queue)));
    return mark;
  }

  void After(Queue queue, const Mark& mark, Place) override {
    const CudaMark* state = StateOf(mark);
    if (state != nullptr && error_.status().ok()) (void)error_.Note(CallCuda(device_.wait, At(queue), state->event));
  }

  absl::StatusOr<bool> Passed(const Mark& mark) override {
    if (absl::Status status = error_.status(); !status.ok()) return status;
    const CudaMark* state = StateOf(mark);
    if (state == nullptr) return true;
    uint32_t passed = 0;
    if (absl::Status status = error_.Note(CallCuda(device_.passed, state->event, &passed)); !status.ok()) return status;
    return passed != 0;
  }

  absl::Status Await(const Mark& mark, const std::function<bool()>& go_on, Place) override {
    for (int asks = 0;; ++asks) {
      const absl::StatusOr<bool> passed = Passed(mark);
      if (!passed.ok()) return passed.status();
      if (*passed) return absl::OkStatus();
      if (asks < kAsksWithoutPause) continue;
      if (go_on != nullptr && !go_on()) return absl::CancelledError("the wait for the device was ended");
      std::this_thread::sleep_for(kPause);
    }
  }

  void Leave(Queue queue) override {
    left_[static_cast<size_t>(queue)] = true;
    heap_.KeepAll([this] {
      for (size_t i = 0; i < kQueues; ++i) {
        // A device that is broken runs nothing, so there is nothing to wait for.
        if (!left_[i]) (void)Await(Record(static_cast<Queue>(i)), nullptr, {});
      }
    });
  }

  Health Look() override {
    size_t free_bytes = 0, all_bytes = 0;
    (void)error_.Note(CallCuda(device_.memory, &free_bytes, &all_bytes));
    return error_.health();
  }

 private:
  void* At(Queue queue) const { return queues_[static_cast<size_t>(queue)]; }

  const RekindleCudaApi& api_;
  const RekindleCudaDevice& device_;
  CudaError error_;
  CudaHeap heap_{device_, error_};
  std::array<void*, kQueues> queues_ = {};
  std::array<std::atomic<bool>, kQueues> left_ = {};
  std::shared_ptr<MarkPool> marks_ = std::make_shared<MarkPool>(device_, error_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(const RekindleCudaApi& api) {
  auto device = std::make_unique<CudaDevice>(api);
  if (absl::Status started = device->Start(); !started.ok()) return started;
  return device;
}

}  // namespace rekindle::device
