#include "worker/train/save/plane_scratch.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/planes/plane_limits.h"

namespace rekindle::train {
namespace {

using checkpoint::Precision;
using checkpoint::ShardRange;
using device::Queue;

// Planes pass through at most so much pinned memory, because the system takes long to free it when a process dies.
constexpr int64_t kMostPinnedBytes = int64_t{240} << 20;
// A slot usually has room for one exception for every `kElementsPerException` elements, and for `kLeastExceptions`.
// Trained weights rarely have any.
constexpr int64_t kElementsPerException = 1024, kLeastExceptions = 64;
constexpr int64_t kAlignment = 64;

// Counts what was found while a shard was split.
struct Counts {
  uint64_t nonfinite;
  uint32_t exceptions;
};

int64_t LongestOf(const std::vector<ShardRange>& ranges) {
  int64_t longest = 1;
  for (const ShardRange& range : ranges) longest = std::max(longest, range.end - range.begin);
  return longest;
}

template <typename T>
T* At(uint8_t* slot, int64_t offset) {
  return reinterpret_cast<T*>(slot + offset);
}

// Splits `n` elements of the weights and moments in `at` into the slot there.
int SplitShard(const SlotLayout& layout, Precision precision, size_t n, size_t moments, const device::Addresses& at,
               const device::Launch& on) {
  const bool exact = precision == Precision::kExact;
  auto* const slot = at.Write<uint8_t>(0);
  auto* const counts = At<Counts>(slot, layout.counts);
  int code = on(&RekindleKernels::fill, {.memory = counts, .byte = 0, .bytes = sizeof(Counts)});
  const auto split_bf16 = [&](const float* x, int64_t high, int64_t low) {
    if (code != 0) return;
    code = on(&RekindleKernels::split_bf16, {.x = x,
                                             .n = n,
                                             .high = At<uint16_t>(slot, high),
                                             .low = exact ? At<uint16_t>(slot, low) : nullptr,
                                             .nonfinite = &counts->nonfinite});
  };
  if (precision == Precision::kBf16) {
    split_bf16(at.Read<float>(0), layout.weights, 0);
  } else if (code == 0) {
    code = on(&RekindleKernels::split_half, {.x = at.Read<float>(0),
                                             .n = n,
                                             .half = At<uint16_t>(slot, layout.weights),
                                             .exponent = At<int8_t>(slot, layout.exponents),
                                             .residual = exact ? At<int16_t>(slot, layout.residuals) : nullptr,
                                             .index = At<uint32_t>(slot, layout.index),
                                             .bits = At<uint32_t>(slot, layout.bits),
                                             .capacity = static_cast<uint32_t>(layout.exceptions_capacity),
                                             .exceptions = &counts->exceptions,
                                             .nonfinite = &counts->nonfinite});
  }
  for (size_t i = 0; i < moments; ++i) split_bf16(at.Read<float>(1 + i), layout.high[i], layout.low[i]);
  return code;
}

// Brings the exceptions of a shard into the order of their indices, which a GPU does not give them.
void Sort(uint32_t* index, uint32_t* bits, size_t count) {
  std::vector<std::pair<uint32_t, uint32_t>> both(count);
  for (size_t i = 0; i < count; ++i) both[i] = {index[i], bits[i]};
  std::sort(both.begin(), both.end());
  for (size_t i = 0; i < count; ++i) std::tie(index[i], bits[i]) = both[i];
}

}  // namespace

SlotLayout::SlotLayout(int64_t elements, int64_t exceptions, Precision precision, size_t moments)
    : exceptions_capacity(precision == Precision::kExact ? exceptions : 0) {
  const auto take = [this](int64_t size) {
    const int64_t at = bytes;
    bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  };
  const bool exact = precision == Precision::kExact;
  constexpr auto kHalf = static_cast<int64_t>(sizeof(uint16_t)), kWord = static_cast<int64_t>(sizeof(uint32_t));
  counts = take(sizeof(Counts));
  weights = take(kHalf * elements);
  if (exact) residuals = take(kHalf * elements);
  for (size_t i = 0; i < moments; ++i) {
    high[i] = take(kHalf * elements);
    if (exact) low[i] = take(kHalf * elements);
  }
  if (precision != Precision::kBf16) exponents = take(elements / kernels::kPlaneBlock + 1);
  index = take(kWord * exceptions_capacity);
  bits = take(kWord * exceptions_capacity);
}

void PlaneScratch::Lay(const std::vector<ShardRange>& ranges, Precision precision, size_t moments) {
  const int64_t longest = LongestOf(ranges);
  const int64_t exceptions =
      has_room_for_all_ ? longest : std::max(longest / kElementsPerException, std::min(longest, kLeastExceptions));
  layout_ = SlotLayout(longest, exceptions, precision, moments);
}

absl::Status PlaneScratch::Allocate(size_t shards) {
  const auto bytes_of = [slot = layout_.bytes](size_t slots) { return static_cast<int64_t>(slots) * slot; };
  constexpr char kPurpose[] = "the planes of a snapshot";
  const size_t pinned_slots = std::clamp(SlotsIn(kMostPinnedBytes), size_t{1}, shards);
  if (SlotsIn(pinned_.bytes()) < pinned_slots) {
    pinned_ = device::PinnedMemory();
    auto pinned = device_.AllocatePinned(bytes_of(pinned_slots), kPurpose);
    if (!pinned.ok()) return pinned.status();
    pinned_ = *std::move(pinned);
  }
  if (SlotsIn(scratch_.bytes()) >= shards) return absl::OkStatus();
  scratch_ = device::Memory();
  for (size_t slots = shards;; slots = (slots + 1) / 2) {
    auto scratch = device_.Allocate(bytes_of(slots), kPurpose);
    if (scratch.ok()) scratch_ = *std::move(scratch);
    if (scratch.ok() || slots == 1 || !absl::IsResourceExhausted(scratch.status())) return scratch.status();
  }
}

absl::Status PlaneScratch::Fit(const std::vector<ShardRange>& ranges, Precision precision, size_t moments) {
  if (ranges.empty()) return absl::OkStatus();
  const common::MutexLock lock(mutex_);
  if (busy_) return absl::OkStatus();
  Lay(ranges, precision, moments);
  return Allocate(ranges.size());
}

absl::Status PlaneScratch::Begin(State state, std::vector<ShardRange> ranges, Precision precision, double seconds) {
  common::MutexLock lock(mutex_);
  changed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                   [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !busy_ || drained_ > 0; });
  if (busy_ && drained_ == 0) return absl::DeadlineExceededError("the snapshot before is still on the device");
  // The device works on it, unless it hangs. Then this rank has to stand still, so that the others go on without it.
  changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !busy_; });
  Lay(ranges, precision, state.parts.size() - 1);
  if (SlotsIn(scratch_.bytes()) == 0 || SlotsIn(pinned_.bytes()) == 0) {
    if (absl::Status status = Allocate(ranges.size()); !status.ok()) return status;
  }
  busy_ = true;
  state_ = std::move(state);
  ranges_ = std::move(ranges);
  precision_ = precision;
  split_ = drained_ = taken_ = 0;
  is_drained_.assign(ranges_.size(), {});
  device_.After(Queue::kSnapshot, state_.ready);
  while (split_ < std::min(ranges_.size(), SlotsIn(scratch_.bytes()))) Split();
  is_split_ = device_.Record(Queue::kSnapshot);
  return absl::OkStatus();
}

void PlaneScratch::Split() {
  const ShardRange& range = ranges_[split_];
  const int64_t first = (range.begin - state_.origin) * static_cast<int64_t>(sizeof(float));
  const int64_t n = range.end - range.begin;
  const size_t slot = split_ % SlotsIn(scratch_.bytes());
  device::Operation operation{
      .name = "split",
      .reads = {},
      .writes = {scratch_.Part(static_cast<int64_t>(slot) * layout_.bytes, layout_.bytes)},
      .launch = [layout = layout_, precision = precision_, n = static_cast<size_t>(n),
                 moments = state_.parts.size() - 1](const device::Addresses& at, const device::Launch& on) {
        return SplitShard(layout, precision, n, moments, at, on);
      }};
  for (const device::Range& part : state_.parts) {
    operation.reads.push_back(part.Part(first, n * static_cast<int64_t>(sizeof(float))));
  }
  device_.Run(Queue::kSnapshot, std::move(operation));
  ++split_;
}

// The copy of the shard that had the slot before is queued already, so the queue's own order keeps it whole.
void PlaneScratch::Drain() {
  if (split_ == drained_) {
    Split();
    is_split_ = device_.Record(Queue::kSnapshot);
  }
  const auto slot_of = [&](int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<int64_t>(drained_ % SlotsIn(bytes)) * layout_.bytes;
  };
  device::Operation copy = device::Copy(scratch_.Part(slot_of(scratch_.bytes()), layout_.bytes),
                                        pinned_.all().Part(slot_of(pinned_.bytes()), layout_.bytes));
  copy.name = "snapshot";
  device_.Run(Queue::kSnapshot, std::move(copy));
  is_drained_[drained_++] = device_.Record(Queue::kSnapshot);
}

bool PlaneScratch::IsSplit() const {
  const common::MutexLock lock(mutex_);
  return split_ == ranges_.size();
}

void PlaneScratch::HoldBack() {
  const common::MutexLock lock(mutex_);
  device_.After(Queue::kCompute, std::exchange(is_split_, {}));
}

absl::StatusOr<checkpoint::SplitRange> PlaneScratch::Next(const ShardRange& range) {
  device::Mark drained;
  {
    const common::MutexLock lock(mutex_);
    // The slots of the shards that were taken before are free, because the caller has copied them.
    while (drained_ < std::min(ranges_.size(), taken_ + SlotsIn(pinned_.bytes()))) Drain();
    drained = is_drained_[taken_];
  }
  changed_.NotifyAll();
  if (absl::Status status = device_.Await(drained, nullptr); !status.ok()) return status;
  const common::MutexLock lock(mutex_);
  return PlanesIn(taken_++ % SlotsIn(pinned_.bytes()), range);
}

absl::StatusOr<checkpoint::SplitRange> PlaneScratch::PlanesIn(size_t pinned_slot, const ShardRange& range) {
  uint8_t* const slot = reinterpret_cast<uint8_t*>(
      pinned_.ForWriting(static_cast<int64_t>(pinned_slot) * layout_.bytes, layout_.bytes).data());
  const bool exact = precision_ == Precision::kExact;
  Counts counts;
  std::memcpy(&counts, slot + layout_.counts, sizeof counts);
  if (exact && counts.exceptions > layout_.exceptions_capacity) {
    has_room_for_all_ = true;
    return absl::UnavailableError(absl::StrCat("shard ", range.index, " has ", counts.exceptions,
                                               " exceptions, and there was room for ", layout_.exceptions_capacity,
                                               "; the next snapshot has room for all"));
  }
  checkpoint::SplitRange split{.weights = At<uint16_t>(slot, layout_.weights),
                               .nonfinite = static_cast<int64_t>(counts.nonfinite)};
  if (precision_ != Precision::kBf16) split.exponents = At<int8_t>(slot, layout_.exponents);
  for (size_t i = 0; i + 1 < state_.parts.size(); ++i) {
    split.moments[i] = At<uint16_t>(slot, layout_.high[i]);
    if (exact) split.moments_low[i] = At<uint16_t>(slot, layout_.low[i]);
  }
  if (exact) {
    split.residuals = At<int16_t>(slot, layout_.residuals);
    split.exceptions = {.index = At<uint32_t>(slot, layout_.index),
                        .bits = At<uint32_t>(slot, layout_.bits),
                        .capacity = layout_.exceptions_capacity,
                        .count = counts.exceptions};
    Sort(split.exceptions.index, split.exceptions.bits, counts.exceptions);
  }
  return split;
}

void PlaneScratch::End() {
  const common::MutexLock lock(mutex_);
  busy_ = false;
  changed_.NotifyAll();
}

}  // namespace rekindle::train
