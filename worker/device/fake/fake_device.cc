#include "worker/device/fake/fake_device.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
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

  // `taken` says how much of the device's memory the block has.
  mutable std::atomic<int64_t> taken = 0;

  // Opens a range for an operation, or closes it again. Operations of two queues may do so at once.
  std::byte* Open(const Range& range, bool writes) const {
    const common::MutexLock lock(mutex_);
    memory_.Open(range.offset, range.bytes, writes);
    return memory_.address() + range.offset;
  }
  void Close(const Range& range, bool writes) const {
    const common::MutexLock lock(mutex_);
    memory_.Close(range.offset, range.bytes, writes);
  }

  // Takes all of its memory away. Commit() and Decommit() give and take parts of it.
  void DecommitAll() const {
    const common::MutexLock lock(mutex_);
    committed_.assign(static_cast<size_t>((bytes() + kCommitBytes - 1) / kCommitBytes), 0);
  }
  void SetCommitted(const Range& range, bool committed) const {
    const common::MutexLock lock(mutex_);
    for (int64_t unit = range.offset / kCommitBytes; unit * kCommitBytes < range.offset + range.bytes; ++unit) {
      committed_[static_cast<size_t>(unit)] = committed ? 1 : 0;
    }
    memory_.Scribble(range.offset, range.bytes);
  }
  bool IsCommitted(const Range& range) const {
    const common::MutexLock lock(mutex_);
    if (committed_.empty()) return true;
    for (int64_t unit = range.offset / kCommitBytes; unit * kCommitBytes < range.offset + range.bytes; ++unit) {
      if (committed_[static_cast<size_t>(unit)] == 0) return false;
    }
    return true;
  }

 private:
  Fake* const fake_;
  mutable common::Mutex mutex_;
  mutable FakeMemory memory_ ABSL_GUARDED_BY(mutex_);
  // `committed_` has an element for each kCommitBytes of reserved memory. It is empty for memory that was allocated.
  mutable std::vector<uint8_t> committed_ ABSL_GUARDED_BY(mutex_);
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
    if (range.block == nullptr) return nullptr;
    if (const auto* pinned = dynamic_cast<const FakePinnedBlock*>(range.block)) return pinned->At(range.offset);
    return static_cast<const DeviceBlock*>(range.block)->Open(range, writes);
  }
  static void Close(const Range& range, bool writes) {
    const auto* block = dynamic_cast<const DeviceBlock*>(range.block);
    if (block != nullptr) block->Close(range, writes);
  }

  const Operation& operation_;
  std::vector<const void*> reads_;
  std::vector<void*> writes_;
};

class Fake final : public FakeDevice {
 public:
  explicit Fake(const FakeOptions& options)
      : options_(options),
        queues_(options.seed, [this](Queue queue, const Operation& operation) { return Perform(queue, operation); }) {}

  bool IsHost() const override { return false; }

  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<DeviceBlock>> block = MakeBlock(bytes, purpose);
    if (!block.ok()) return block.status();
    if (absl::Status taken = Take(bytes, purpose); !taken.ok()) return taken;
    (*block)->taken = bytes;
    return Memory(*std::move(block));
  }

  absl::StatusOr<Memory> Reserve(int64_t bytes, const std::string& purpose) override {
    absl::StatusOr<std::unique_ptr<DeviceBlock>> block = MakeBlock(bytes, purpose);
    if (!block.ok()) return block.status();
    (*block)->DecommitAll();
    return Memory(*std::move(block));
  }
  absl::Status Commit(const Range& range) override {
    if (absl::Status taken = Take(range.bytes, range.block->purpose()); !taken.ok()) return taken;
    const auto* block = static_cast<const DeviceBlock*>(range.block);
    block->taken += range.bytes;
    block->SetCommitted(range, true);
    return absl::OkStatus();
  }
  // What the host queues from now on comes after all that was queued before, as after a free.
  void Decommit(const Range& range) override {
    queues_.RunAll();
    const auto* block = static_cast<const DeviceBlock*>(range.block);
    block->SetCommitted(range, false);
    block->taken -= range.bytes;
    const common::MutexLock lock(mutex_);
    order_.AwaitAll();
    used_ -= range.bytes;
  }

  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    return PinnedMemory(std::make_unique<FakePinnedBlock>(this, bytes, purpose));
  }

  void Run(Queue queue, Operation operation) override {
    std::vector<std::string> found;
    {
      const common::MutexLock lock(mutex_);
      const size_t before = order_.reports().size();
      if (Within* within = WithinOf(queue)) {
        order_.LaunchWithin(queue, operation, within->clock);
      } else {
        const VectorClock clock = order_.Launch(queue, operation);
        operation.run = [this, queue, clock, run = std::move(operation.run)](const Addresses& at) {
          Within inner{.device = this, .queue = queue, .clock = clock, .outer = within_};
          within_ = &inner;
          absl::Status status = run(at);
          within_ = inner.outer;
          return status;
        };
      }
      found.assign(order_.reports().begin() + static_cast<std::ptrdiff_t>(before), order_.reports().end());
    }
    Tell(found);
    queues_.Add(queue, std::move(operation));
    queues_.RunSome();
  }

  Mark Record(Queue queue) override {
    VectorClock clock;
    {
      const common::MutexLock lock(mutex_);
      const Within* within = WithinOf(queue);
      clock = within != nullptr ? within->clock : order_.Record(queue);
    }
    return {std::make_shared<FakeMark>(queues_.AddMark(queue), clock)};
  }

  void After(Queue queue, const Mark& mark, Place place) override {
    const FakeMark* state = StateOf(mark);
    {
      const common::MutexLock lock(mutex_);
      const Effect effect = EffectOf(place);
      if (effect == Effect::kNone || state == nullptr) return;
      if (effect == Effect::kOrders) {
        order_.After(queue, state->clock);
        if (Within* within = WithinOf(queue)) Join(state->clock, &within->clock);
      }
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

  absl::Status Await(const Mark& mark, const std::function<bool()>& go_on, Place place) override {
    const FakeMark* state = StateOf(mark);
    Effect effect = Effect::kOrders;
    {
      const common::MutexLock lock(mutex_);
      effect = EffectOf(place);
      if (effect == Effect::kNone) return absl::OkStatus();
    }
    if (state == nullptr) return queues_.error();
    if (absl::Status status = queues_.RunUntil(state->flag, go_on); !status.ok()) return status;
    const common::MutexLock lock(mutex_);
    if (effect == Effect::kOrders) order_.Await(state->clock);
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
  std::set<std::string> OrderPlaces() override {
    const common::MutexLock lock(mutex_);
    return places_;
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
    std::vector<std::string> found;
    {
      const common::MutexLock lock(mutex_);
      const size_t before = order_.reports().size();
      order_.TouchByHost(range, writes);
      found.assign(order_.reports().begin() + static_cast<std::ptrdiff_t>(before), order_.reports().end());
    }
    Tell(found);
  }

 private:
  // Describes the operation that a thread is running. What it queues on its own queue is a part of it.
  struct Within {
    const Fake* device = nullptr;
    Queue queue = Queue::kCompute;
    // `clock` says what comes before what the operation queues next.
    VectorClock clock;
    Within* outer = nullptr;
  };
  // Returns the operation of this queue that the calling thread is running, or null.
  Within* WithinOf(Queue queue) const {
    return within_ != nullptr && within_->device == this && within_->queue == queue ? within_ : nullptr;
  }

  absl::StatusOr<std::unique_ptr<DeviceBlock>> MakeBlock(int64_t bytes, const std::string& purpose) {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    absl::StatusOr<FakeMemory> memory = FakeMemory::Make(bytes);
    if (!memory.ok()) return memory.status();
    return std::make_unique<DeviceBlock>(this, bytes, purpose, *std::move(memory));
  }
  // Takes bytes of the device's memory for an allocation.
  absl::Status Take(int64_t bytes, const std::string& purpose) {
    const common::MutexLock lock(mutex_);
    const int64_t free = options_.memory_bytes - used_;
    if (bytes > free) {
      return NoRoom(static_cast<double>(free), static_cast<double>(options_.memory_bytes), bytes, purpose);
    }
    used_ += bytes;
    return absl::OkStatus();
  }
  void Tell(const std::vector<std::string>& reports) const {
    for (const std::string& report : reports) {
      if (options_.on_report) options_.on_report(report);
    }
  }
  // Says what a call of After or Await does. With kWaits it makes one wait for the other, but is no order.
  enum class Effect { kNone, kWaits, kOrders };
  // Notes a call of After or Await, and returns what it does.
  Effect EffectOf(const Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (place.line() == 0) return Effect::kOrders;
    const std::string name = absl::StrCat(place.file(), ":", place.line());
    places_.insert(name);
    if (orders_++ == options_.ignored) return Effect::kNone;
    return name == options_.ignored_place ? Effect::kWaits : Effect::kOrders;
  }

  absl::Status Perform(Queue queue, const Operation& operation) {
    if (options_.before_run) options_.before_run(queue, operation.name);
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    for (const auto* ranges : {&operation.reads, &operation.writes}) {
      for (const Range& range : *ranges) {
        const auto* block = dynamic_cast<const DeviceBlock*>(range.block);
        if (block == nullptr || block->IsCommitted(range)) continue;
        return absl::InternalError(absl::StrCat("'", operation.name, "' uses ", block->purpose(), " [", range.offset,
                                                ", ", range.offset + range.bytes, "), which has no memory"));
      }
    }
    const OpenRanges open(operation);
    absl::Status status = operation.run(open.addresses());
    if (!status.ok()) open.ScribbleOverWrites();
    return status;
  }

  static thread_local Within* within_;

  const FakeOptions options_;
  FakeQueues queues_;
  std::atomic<bool> is_lost_ = false;
  common::Mutex mutex_;
  AccessOrder order_ ABSL_GUARDED_BY(mutex_);
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t orders_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::string> places_ ABSL_GUARDED_BY(mutex_);
};

thread_local Fake::Within* Fake::within_ = nullptr;

DeviceBlock::~DeviceBlock() { fake_->Free(this, taken); }
FakePinnedBlock::~FakePinnedBlock() { fake_->Free(this, 0); }
std::byte* FakePinnedBlock::HostAddress(int64_t offset, int64_t bytes, bool writes) {
  fake_->TouchByHost({this, offset, bytes}, writes);
  return At(offset);
}

}  // namespace

std::unique_ptr<FakeDevice> MakeFakeDevice(const FakeOptions& options) { return std::make_unique<Fake>(options); }

}  // namespace rekindle::device
