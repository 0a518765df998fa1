#include "worker/device/cuda/cuda_device.h"

#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/memory/memory.h"
#include "common/sync/mutex.h"
#include "worker/device/cuda/cuda_errors.h"

namespace rekindle::device {
namespace {

constexpr size_t kErrorBytes = 512;
// Only the driver can tell that a mark has passed, so a thread that waits asks it. It asks without a pause at first,
// because most waits are short.
constexpr int kAsksWithoutPause = 2000;
constexpr auto kPause = std::chrono::microseconds(50);

// Says what a call of the plugin's table has returned.
struct Outcome {
  int code = 0;
  std::string words;
};

// Calls a function of the table with a buffer for the driver's words.
template <typename Function, typename... Arguments>
Outcome Call(Function function, Arguments... arguments) {
  char words[kErrorBytes] = "";
  const int code = function(arguments..., words, sizeof words);
  return {code, code == 0 ? "" : words};
}

// Remembers the first error of the device. The class is thread-safe.
class FirstError {
 public:
  // Notes the error of a call, if it is one that stays, and returns it as a status.
  absl::Status Note(const Outcome& outcome) {
    if (outcome.code == 0) return absl::OkStatus();
    if (IsOutOfDeviceMemory(outcome.code)) return absl::ResourceExhaustedError(outcome.words);
    return Break(StateAfter(outcome.code), outcome.words);
  }
  absl::Status Break(Health::State state, const std::string& words) {
    const common::MutexLock lock(mutex_);
    if (health_.state == Health::State::kFine) health_ = {.state = state, .words = words};
    return absl::InternalError(health_.words);
  }
  absl::Status status() {
    const common::MutexLock lock(mutex_);
    return health_.state == Health::State::kFine ? absl::OkStatus() : absl::InternalError(health_.words);
  }
  Health health() {
    const common::MutexLock lock(mutex_);
    return health_;
  }

 private:
  common::Mutex mutex_;
  Health health_ ABSL_GUARDED_BY(mutex_);
};

// One block serves both as the device's memory and as pinned memory, which differ only in how they are freed.
class CudaBlock final : public PinnedBlock {
 public:
  using Release = int (*)(void* memory, char* error, size_t error_size);

  CudaBlock(Release release, FirstError& error, int64_t bytes, const std::string& purpose, void* memory)
      : PinnedBlock(bytes, purpose), release_(release), error_(error), memory_(memory) {}
  ~CudaBlock() override { (void)error_.Note(Call(release_, memory_)); }
  std::byte* HostAddress(int64_t offset, int64_t, bool) override { return At(offset); }
  std::byte* At(int64_t offset) const { return static_cast<std::byte*>(memory_) + offset; }

 private:
  const Release release_;
  FirstError& error_;
  void* const memory_;
};

std::byte* AddressOf(const Range& range) { return static_cast<const CudaBlock*>(range.block)->At(range.offset); }

// Keeps events for marks, because it takes the driver microseconds to make one. The class is thread-safe and outlives
// the marks that it gives out.
class MarkPool {
 public:
  MarkPool(const RekindleCudaDevice& api, FirstError& error) : api_(api), error_(error) {}
  ~MarkPool() {
    const common::MutexLock lock(mutex_);
    for (void* mark : free_) (void)Call(api_.end_mark, mark);
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
    return error_.Note(Call(api_.make_mark, &mark)).ok() ? mark : nullptr;
  }
  void Return(void* mark) {
    const common::MutexLock lock(mutex_);
    free_.push_back(mark);
  }

 private:
  const RekindleCudaDevice& api_;
  FirstError& error_;
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
    for (void* queue : queues_) {
      if (queue != nullptr) (void)Call(device_.end_queue, queue);
    }
  }

  absl::Status Start() {
    for (const Queue queue : {Queue::kCompute, Queue::kExchange, Queue::kSnapshot}) {
      const uint32_t urgent = queue == Queue::kExchange ? 1 : 0;
      const Outcome made = Call(device_.make_queue, urgent, &queues_[static_cast<size_t>(queue)]);
      if (made.code != 0) return absl::FailedPreconditionError(absl::StrCat("the GPU does not answer: ", made.words));
    }
    return absl::OkStatus();
  }

  bool IsHost() const override { return false; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    void* memory = nullptr;
    absl::Status made = Allocated(Call(device_.allocate, static_cast<size_t>(bytes), &memory), bytes, purpose);
    if (!made.ok()) return made;
    return Memory(std::make_unique<CudaBlock>(device_.release, error_, bytes, purpose, memory));
  }

  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    void* memory = nullptr;
    const Outcome outcome = Call(device_.allocate_pinned, static_cast<size_t>(bytes), &memory);
    if (IsOutOfDeviceMemory(outcome.code)) {
      return absl::ResourceExhaustedError(absl::StrCat("the host has no pinned memory for ", purpose, " (",
                                                       common::BytesText(static_cast<double>(bytes)), ")"));
    }
    if (absl::Status status = error_.Note(outcome); !status.ok()) return status;
    return PinnedMemory(std::make_unique<CudaBlock>(device_.release_pinned, error_, bytes, purpose, memory));
  }

  // All of the memory is there from the reservation on.
  absl::StatusOr<Memory> Reserve(int64_t bytes, const std::string& purpose) override {
    return Allocate(bytes, purpose);
  }
  absl::Status Commit(const Range&) override { return error_.status(); }
  void Decommit(const Range&) override {}

  void Run(Queue queue, Operation operation) override {
    if (!error_.status().ok()) return;
    if (operation.on_cuda == nullptr) {
      (void)error_.Break(Health::State::kContextLost,
                         absl::StrCat("the operation '", operation.name, "' has no form for a GPU"));
      return;
    }
    char words[kErrorBytes] = "";
    const CudaQueue on{.api = &api_, .queue = At(queue), .error = words, .error_size = sizeof words};
    const int code = operation.on_cuda(AddressesOf(operation, AddressOf), on);
    if (code != 0) {
      (void)error_.Break(StateAfter(code), absl::StrCat("the operation '", operation.name, "': ", words));
    }
  }

  Mark Record(Queue queue) override {
    void* event = error_.status().ok() ? marks_->Take() : nullptr;
    if (event == nullptr) return {};
    Mark mark{std::make_shared<CudaMark>(marks_, event)};
    (void)error_.Note(Call(device_.record, event, At(queue)));
    return mark;
  }

  void After(Queue queue, const Mark& mark, Place) override {
    const CudaMark* state = StateOf(mark);
    if (state != nullptr && error_.status().ok()) (void)error_.Note(Call(device_.wait, At(queue), state->event));
  }

  absl::StatusOr<bool> Passed(const Mark& mark) override {
    if (absl::Status status = error_.status(); !status.ok()) return status;
    const CudaMark* state = StateOf(mark);
    if (state == nullptr) return true;
    uint32_t passed = 0;
    if (absl::Status status = error_.Note(Call(device_.passed, state->event, &passed)); !status.ok()) return status;
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

  Health Look() override {
    size_t free_bytes = 0, all_bytes = 0;
    (void)error_.Note(Call(device_.memory, &free_bytes, &all_bytes));
    return error_.health();
  }

 private:
  void* At(Queue queue) const { return queues_[static_cast<size_t>(queue)]; }

  absl::Status Allocated(const Outcome& outcome, int64_t bytes, const std::string& purpose) {
    if (!IsOutOfDeviceMemory(outcome.code)) return error_.Note(outcome);
    size_t free_bytes = 0, all_bytes = 0;
    (void)Call(device_.memory, &free_bytes, &all_bytes);
    return NoRoom(static_cast<double>(free_bytes), static_cast<double>(all_bytes), bytes, purpose);
  }

  const RekindleCudaApi& api_;
  const RekindleCudaDevice& device_;
  FirstError error_;
  std::array<void*, kQueues> queues_ = {};
  std::shared_ptr<MarkPool> marks_ = std::make_shared<MarkPool>(device_, error_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(const RekindleCudaApi& api) {
  auto device = std::make_unique<CudaDevice>(api);
  if (absl::Status started = device->Start(); !started.ok()) return started;
  return device;
}

}  // namespace rekindle::device
