#include "worker/device/fake/fake_device.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "common/sync/mutex.h"
#include "worker/device/fake/access_order.h"
#include "worker/device/fake/fake_memory.h"
#include "worker/device/fake/fake_queues.h"

namespace rekindle::device {
namespace {

constexpr int kScribble = 0xff;

struct FakeMark final : MarkState {
  FakeMark(FakeQueues::Flag f, const VectorClock& c) : flag(std::move(f)), clock(c) {}
  const FakeQueues::Flag flag;
  // `clock` says what comes before the mark.
  const VectorClock clock;
};

const FakeMark* StateOf(const Mark& mark) { return static_cast<const FakeMark*>(mark.state.get()); }

class Fake;

// Is memory of the device, which operations reach through the pages of `memory`.
class DeviceBlock final : public Block {
 public:
  DeviceBlock(Fake* fake, int64_t bytes, const std::string& purpose, FakeMemory memory)
      : Block(bytes, purpose), fake_(fake), memory_(std::move(memory)) {}
  ~DeviceBlock() override;
  FakeMemory& memory() const { return memory_; }

 private:
  Fake* const fake_;
  mutable FakeMemory memory_;
};

// Is host memory, which has the same content at first as the device's. Its accesses by the host are noted.
class FakePinnedBlock final : public PinnedBlock {
 public:
  FakePinnedBlock(Fake* fake, int64_t bytes, const std::string& purpose)
      : PinnedBlock(bytes, purpose), fake_(fake), memory_(static_cast<size_t>(bytes)) {
    std::memset(memory_.data(), kScribble, memory_.size());
  }
  ~FakePinnedBlock() override;
  std::byte* HostAddress(int64_t offset, int64_t bytes, bool writes) override;
  std::byte* At(int64_t offset) const { return memory_.data() + offset; }

 private:
  Fake* const fake_;
  mutable std::vector<std::byte> memory_;
};

// Opens the memory of an operation while it runs, and finds its addresses.
class OpenRanges {
 public:
  explicit OpenRanges(const Operation& operation) : operation_(operation) {
    for (const Range& range : operation.reads) reads_.push_back(Open(range, false));
    for (const Range& range : operation.writes) writes_.push_back(Open(range, true));
  }
  ~OpenRanges() {
    for (const Range& range : operation_.reads) Close(range, false);
    for (const Range& range : operation_.writes) Close(range, true);
  }
  OpenRanges(const OpenRanges&) = delete;
  OpenRanges& operator=(const OpenRanges&) = delete;

  Addresses addresses() const { return {reads_, writes_}; }
  void ScribbleOverWrites() const {
    for (size_t i = 0; i < writes_.size(); ++i) {
      std::memset(writes_[i], kScribble, static_cast<size_t>(operation_.writes[i].bytes));
    }
  }

 private:
  static std::byte* Open(const Range& range, bool writes) {
    if (const auto* pinned = dynamic_cast<const FakePinnedBlock*>(range.block)) return pinned->At(range.offset);
    FakeMemory& memory = static_cast<const DeviceBlock*>(range.block)->memory();
    memory.Open(range.offset, range.bytes, writes);
    return memory.address() + range.offset;
  }
  static void Close(const Range& range, bool writes) {
    const auto* block = dynamic_cast<const DeviceBlock*>(range.block);
    if (block != nullptr) block->memory().Close(range.offset, range.bytes, writes);
  }

  const Operation& operation_;
  std::vector<const void*> reads_;
  std::vector<void*> writes_;
};

class Fake final : public FakeDevice {
 public:
  explicit Fake(const FakeOptions& options)
      : options_(options), queues_(options.seed, [](const Operation& operation) { return Perform(operation); }) {}

  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    const common::MutexLock lock(mutex_);
    const int64_t free = options_.memory_bytes - used_;
    if (bytes > free) {
      return NoRoom(static_cast<double>(free), static_cast<double>(options_.memory_bytes), bytes, purpose);
    }
    absl::StatusOr<FakeMemory> memory = FakeMemory::Make(bytes);
    if (!memory.ok()) return memory.status();
    used_ += bytes;
    return Memory(std::make_unique<DeviceBlock>(this, bytes, purpose, *std::move(memory)));
  }

  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    return PinnedMemory(std::make_unique<FakePinnedBlock>(this, bytes, purpose));
  }

  void Run(Queue queue, Operation operation) override {
    {
      const common::MutexLock lock(mutex_);
      order_.Launch(queue, operation);
    }
    queues_.Add(queue, std::move(operation));
    queues_.RunSome();
  }

  Mark Record(Queue queue) override {
    VectorClock clock;
    {
      const common::MutexLock lock(mutex_);
      clock = order_.Record(queue);
    }
    return {std::make_shared<FakeMark>(queues_.AddMark(queue), clock)};
  }

  void After(Queue queue, const Mark& mark) override {
    const FakeMark* state = StateOf(mark);
    {
      const common::MutexLock lock(mutex_);
      if (orders_++ == options_.ignored || state == nullptr) return;
      order_.After(queue, state->clock);
    }
    queues_.AddWait(queue, state->flag);
  }

  absl::StatusOr<bool> Passed(const Mark& mark) override {
    queues_.RunSome();
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    const FakeMark* state = StateOf(mark);
    if (state == nullptr) return true;
    if (!queues_.IsSet(state->flag)) return false;
    const common::MutexLock lock(mutex_);
    order_.Await(state->clock);
    return true;
  }

  absl::Status Await(const Mark& mark, const std::function<bool()>& go_on) override {
    const FakeMark* state = StateOf(mark);
    {
      const common::MutexLock lock(mutex_);
      if (orders_++ == options_.ignored) return absl::OkStatus();
    }
    if (state == nullptr) return queues_.error();
    if (absl::Status status = queues_.RunUntil(state->flag, go_on); !status.ok()) return status;
    const common::MutexLock lock(mutex_);
    order_.Await(state->clock);
    return absl::OkStatus();
  }

  Health Look() override {
    const absl::Status error = queues_.error();
    if (error.ok()) return {};
    const bool is_lost = is_lost_;
    return {.state = is_lost ? Health::State::kDeviceLost : Health::State::kContextLost,
            .words = std::string(error.message())};
  }

  std::vector<std::string> Reports() override {
    const common::MutexLock lock(mutex_);
    return order_.reports();
  }
  int64_t Orders() override {
    const common::MutexLock lock(mutex_);
    return orders_;
  }

  void Hang(Queue queue) override { queues_.Hang(queue); }
  void LoseContext(const std::string& words) override { queues_.Break(absl::InternalError(words)); }
  void LoseDevice(const std::string& words) override {
    is_lost_ = true;
    LoseContext(words);
  }

  // Frees a block. Like cudaFree, it first waits for all that was queued.
  void Free(const Block* block, int64_t bytes) {
    queues_.RunAll();
    const common::MutexLock lock(mutex_);
    order_.AwaitAll();
    order_.Forget(block);
    used_ -= bytes;
  }
  void TouchByHost(const Range& range, bool writes) {
    const common::MutexLock lock(mutex_);
    order_.TouchByHost(range, writes);
  }

 private:
  static absl::Status Perform(const Operation& operation) {
    const OpenRanges open(operation);
    absl::Status status = operation.run(open.addresses());
    if (!status.ok()) open.ScribbleOverWrites();
    return status;
  }

  const FakeOptions options_;
  FakeQueues queues_;
  std::atomic<bool> is_lost_ = false;
  common::Mutex mutex_;
  AccessOrder order_ ABSL_GUARDED_BY(mutex_);
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t orders_ ABSL_GUARDED_BY(mutex_) = 0;
};

DeviceBlock::~DeviceBlock() { fake_->Free(this, bytes()); }
FakePinnedBlock::~FakePinnedBlock() { fake_->Free(this, 0); }
std::byte* FakePinnedBlock::HostAddress(int64_t offset, int64_t bytes, bool writes) {
  fake_->TouchByHost({this, offset, bytes}, writes);
  return At(offset);
}

}  // namespace

std::unique_ptr<FakeDevice> MakeFakeDevice(const FakeOptions& options) { return std::make_unique<Fake>(options); }

}  // namespace rekindle::device
