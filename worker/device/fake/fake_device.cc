#include "worker/device/fake/fake_device.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "worker/device/fake/access_order.h"
#include "worker/device/fake/fake_heap.h"
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

// Is memory of the device, which operations reach through its pages.
class DeviceBlock final : public Block {
 public:
  DeviceBlock(Fake* fake, const std::string& purpose, std::shared_ptr<FakePages> pages, bool is_reserved)
      : Block(pages->bytes(), purpose), fake_(fake), pages_(std::move(pages)), is_reserved_(is_reserved) {}
  ~DeviceBlock() override;

  const std::shared_ptr<FakePages>& pages() const { return pages_; }
  // Returns whether only addresses were reserved, so that memory is given and taken away in units.
  bool is_reserved() const { return is_reserved_; }

  // `units` says how many bytes of memory reserved addresses have.
  mutable std::atomic<int64_t> units = 0;

 private:
  Fake* const fake_;
  const std::shared_ptr<FakePages> pages_;
  const bool is_reserved_;
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
  explicit OpenRanges(const Operation& operation) {
    for (const Range& range : operation.reads) reads_.push_back(Open(range, false));
    for (const Range& range : operation.writes) writes_.push_back(Open(range, true));
  }
  ~OpenRanges() {
    for (const Opened& opened : opened_) opened.pages->Close(opened.range, opened.writes);
  }
  OpenRanges(const OpenRanges&) = delete;
  OpenRanges& operator=(const OpenRanges&) = delete;

  Addresses addresses() const { return {reads_, writes_}; }

 private:
  // Names a range of device memory, whose block may have been freed since.
  struct Opened {
    std::shared_ptr<FakePages> pages;
    Range range;
    bool writes = false;
  };

  std::byte* Open(const Range& range, bool writes) {
    if (range.block == nullptr) return nullptr;
    if (const auto* pinned = dynamic_cast<const FakePinnedBlock*>(range.block)) return pinned->At(range.offset);
    opened_.push_back({static_cast<const DeviceBlock*>(range.block)->pages(), range, writes});
    return opened_.back().pages->Open(range, writes);
  }

  std::vector<Opened> opened_;
  std::vector<const void*> reads_;
  std::vector<void*> writes_;
};

class Fake final : public FakeDevice {
 public:
  explicit Fake(const FakeOptions& options)
      : options_(options),
        heap_(options.memory_bytes),
        queues_(options.seed, [this](Queue queue, const Operation& operation) { return Perform(queue, operation); }) {}

  bool IsHost() const override { return false; }

  AllocatedBytes Allocated() const override { return heap_.allocated(); }
  absl::StatusOr<Memory> Allocate(int64_t bytes, const std::string& purpose) override {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    absl::StatusOr<std::shared_ptr<FakePages>> pages = heap_.Take(bytes, purpose);
    if (!pages.ok()) return pages.status();
    return Memory(std::make_unique<DeviceBlock>(this, purpose, *std::move(pages), /*is_reserved=*/false));
  }

  absl::StatusOr<Memory> Reserve(int64_t bytes, const std::string& purpose) override {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    absl::StatusOr<FakeMemory> memory = FakeMemory::Make(bytes);
    if (!memory.ok()) return memory.status();
    auto pages = std::make_shared<FakePages>(bytes, *std::move(memory));
    pages->DecommitAll();
    return Memory(std::make_unique<DeviceBlock>(this, purpose, std::move(pages), /*is_reserved=*/true));
  }
  absl::Status Commit(const Range& range) override {
    if (absl::Status taken = heap_.TakeUnits(range.bytes, range.block->purpose()); !taken.ok()) return taken;
    const auto* block = static_cast<const DeviceBlock*>(range.block);
    block->units += range.bytes;
    block->pages()->SetCommitted(range, true);
    return absl::OkStatus();
  }
  // What the host queues from now on comes after all that was queued before, as after a free.
  void Decommit(const Range& range) override {
    queues_.RunAll();
    const auto* block = static_cast<const DeviceBlock*>(range.block);
    block->pages()->SetCommitted(range, false);
    block->units -= range.bytes;
    heap_.GiveUnits(range.bytes);
    const common::MutexLock lock(mutex_);
    order_.AwaitAll();
  }

  absl::StatusOr<PinnedMemory> AllocatePinned(int64_t bytes, const std::string& purpose) override {
    if (absl::Status error = queues_.error(); !error.ok()) return error;
    return PinnedMemory(std::make_unique<FakePinnedBlock>(this, bytes, purpose));
  }

  void Run(Queue queue, Operation operation) override {
    if (operation.run == nullptr) {
      operation.run = [operation](const Addresses& at) { return RunOnHost(operation, at); };
    }
    Note([&](AccessOrder& order) {
      if (Within* within = WithinOf(queue)) {
        order.LaunchWithin(queue, operation, within->clock);
        return;
      }
      const VectorClock clock = order.Launch(queue, operation);
      operation.run = [this, queue, clock, run = std::move(operation.run)](const Addresses& at) {
        Within inner{.device = this, .queue = queue, .clock = clock, .outer = within_};
        within_ = &inner;
        absl::Status status = run(at);
        within_ = inner.outer;
        return status;
      };
    });
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

  void Leave(Queue queue) override {
    heap_.KeepAll();
    queues_.Leave(queue);
    const common::MutexLock lock(mutex_);
    order_.Leave(queue);
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

  // Lets a block end. Like cudaFree, it first waits for all that was queued.
  void Forget(const Block* block) {
    queues_.RunAll();
    const common::MutexLock lock(mutex_);
    order_.AwaitAll();
    order_.Forget(block);
  }
  void Free(const DeviceBlock& block) {
    Forget(&block);
    if (block.is_reserved()) {
      heap_.GiveUnits(block.units);
    } else {
      heap_.Give(block.pages());
    }
  }
  void TouchByHost(const Range& range, bool writes) {
    Note([&](AccessOrder& order) { order.TouchByHost(range, writes); });
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

  // Notes accesses, and tells of each report that they bring about.
  template <typename Accesses>
  void Note(const Accesses& accesses) {
    std::vector<std::string> found;
    {
      const common::MutexLock lock(mutex_);
      const auto before = static_cast<std::ptrdiff_t>(order_.reports().size());
      accesses(order_);
      found.assign(order_.reports().begin() + before, order_.reports().end());
    }
    for (const std::string& report : found) {
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
        if (block == nullptr || block->pages()->IsCommitted(range)) continue;
        return absl::InternalError(absl::StrCat("'", operation.name, "' uses ", block->purpose(), " [", range.offset,
                                                ", ", range.offset + range.bytes, "), which has no memory"));
      }
    }
    const OpenRanges open(operation);
    absl::Status status = operation.run(open.addresses());
    if (!status.ok()) {
      for (size_t i = 0; i < operation.writes.size(); ++i) {
        std::memset(open.addresses().Write<void>(i), kScribble, static_cast<size_t>(operation.writes[i].bytes));
      }
    }
    return status;
  }

  static thread_local Within* within_;

  const FakeOptions options_;
  FakeHeap heap_;
  FakeQueues queues_;
  std::atomic<bool> is_lost_ = false;
  common::Mutex mutex_;
  AccessOrder order_ ABSL_GUARDED_BY(mutex_);
  int64_t orders_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<std::string> places_ ABSL_GUARDED_BY(mutex_);
};

thread_local Fake::Within* Fake::within_ = nullptr;

DeviceBlock::~DeviceBlock() { fake_->Free(*this); }
FakePinnedBlock::~FakePinnedBlock() { fake_->Forget(this); }
std::byte* FakePinnedBlock::HostAddress(int64_t offset, int64_t bytes, bool writes) {
  fake_->TouchByHost({this, offset, bytes}, writes);
  return At(offset);
}

}  // namespace

std::unique_ptr<FakeDevice> MakeFakeDevice(const FakeOptions& options) { return std::make_unique<Fake>(options); }

}  // namespace rekindle::device
