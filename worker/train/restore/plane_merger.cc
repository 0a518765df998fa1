#include "worker/train/restore/plane_merger.h"

#include <algorithm>
#include <cstring>

#include "kernels/planes/plane_limits.h"

namespace rekindle::train {
namespace {

using checkpoint::ShardPlanes;

constexpr int64_t kHalf = sizeof(uint16_t), kFloat = sizeof(float);
// The arrays of a slot are weights, residuals, and the halves of both moments. A moment has its high halves first.
constexpr size_t kWeights = 0, kResiduals = 1, kMoments = 2, kArrays = 6;

constexpr int64_t RoundUp(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
constexpr int64_t ExponentsOf(int64_t elements) {
  return RoundUp(elements, kernels::kPlaneBlock) / kernels::kPlaneBlock;
}

}  // namespace

PlaneMerger::PlaneMerger(device::Device& device, TrainState& target,
                         const std::vector<checkpoint::ElementRange>& wanted, int64_t piece_elements)
    : device_(device),
      target_(target),
      wanted_(wanted),
      piece_(RoundUp(std::min(target.weights.size(), piece_elements), kernels::kPlaneBlock)) {}

int64_t PlaneMerger::SlotBytes() const {
  // Kernels read fastest from addresses that are multiples of `kAlignment`.
  constexpr int64_t kAlignment = 64;
  return RoundUp(static_cast<int64_t>(kArrays) * kHalf * piece_ + piece_ / kernels::kPlaneBlock, kAlignment);
}
int64_t PlaneMerger::Half(size_t slot, size_t n) const {
  return static_cast<int64_t>(slot) * SlotBytes() + static_cast<int64_t>(n) * kHalf * piece_;
}
int64_t PlaneMerger::Exponents(size_t slot) const { return Half(slot, kArrays); }

absl::Status PlaneMerger::Allocate() {
  constexpr char kPurpose[] = "the planes of a checkpoint";
  const auto bytes = [this] { return static_cast<int64_t>(kSlots) * SlotBytes(); };
  for (;; piece_ = RoundUp(piece_ / 2, kernels::kPlaneBlock)) {
    absl::StatusOr<device::Memory> scratch = device_.Allocate(bytes(), kPurpose);
    if (scratch.ok()) scratch_ = *std::move(scratch);
    if (scratch.ok()) break;
    if (!absl::IsResourceExhausted(scratch.status()) || piece_ <= kernels::kPlaneBlock) return scratch.status();
  }
  absl::StatusOr<device::PinnedMemory> pinned = device_.AllocatePinned(bytes(), kPurpose);
  if (!pinned.ok()) return pinned.status();
  pinned_ = *std::move(pinned);
  return absl::OkStatus();
}

absl::StatusOr<size_t> PlaneMerger::TakeSlot() {
  size_t slot = 0;
  std::optional<device::Mark> left;
  {
    common::MutexLock lock(mutex_);
    const auto find = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      while (slot < kSlots && !slots_[slot].is_free) ++slot;
      if (slot < kSlots) return true;
      slot = 0;
      return false;
    };
    changed_.Wait(lock, find);
    slots_[slot].is_free = false;
    left = slots_[slot].left;
  }
  if (!left) return slot;
  if (absl::Status status = device_.Await(*left, nullptr); !status.ok()) return status;
  return slot;
}

bool PlaneMerger::Fill(size_t slot, const ShardPlanes& planes, int64_t from, int64_t count) {
  const auto put = [&](size_t array, const void* halves) {
    const std::span<std::byte> to = pinned_.ForWriting(Half(slot, array), count * kHalf);
    std::memcpy(to.data(), halves, to.size());
  };
  const bool is_merged = HasException(planes, from, from + count);
  if (is_merged) {
    const std::span<std::byte> to = pinned_.ForWriting(Half(slot, kWeights), count * kFloat);
    MergeWeights(planes, from, from + count, reinterpret_cast<float*>(to.data()));
  } else {
    put(kWeights, planes.weights + from);
    if (planes.exact) put(kResiduals, planes.residuals + from);
    if (planes.exponents != nullptr) {
      const std::span<std::byte> to = pinned_.ForWriting(Exponents(slot), ExponentsOf(count));
      std::memcpy(to.data(), planes.exponents + from / kernels::kPlaneBlock, to.size());
    }
  }
  const size_t moments = wanted_.empty() ? 0 : static_cast<size_t>(target_.moments);
  for (size_t i = 0; i < moments; ++i) {
    put(kMoments + 2 * i, planes.moments[i] + from);
    if (planes.exact) put(kMoments + 2 * i + 1, planes.moments_low[i] + from);
  }
  return is_merged;
}

void PlaneMerger::QueueWeights(size_t slot, const ShardPlanes& planes, int64_t from, int64_t count) {
  const auto n = static_cast<size_t>(count);
  device::Operation merge{.name = "merge",
                          .reads = {scratch_.Part(Half(slot, kWeights), count * kHalf)},
                          .writes = {target_.weights.Part(planes.range.begin + from, count)}};
  if (planes.exponents == nullptr) {
    merge.launch = [n](const device::Addresses& at, const device::Launch& on) {
      return on(&RekindleKernels::merge_bf16,
                {.high = at.Read<uint16_t>(0), .low = nullptr, .n = n, .x = at.Write<float>(0)});
    };
  } else {
    merge.reads.push_back(scratch_.Part(Exponents(slot), ExponentsOf(count)));
    if (planes.exact) merge.reads.push_back(scratch_.Part(Half(slot, kResiduals), count * kHalf));
    merge.launch = [n, exact = planes.exact](const device::Addresses& at, const device::Launch& on) {
      return on(&RekindleKernels::merge_half, {.half = at.Read<uint16_t>(0),
                                               .exponent = at.Read<int8_t>(1),
                                               .residual = exact ? at.Read<int16_t>(2) : nullptr,
                                               .n = n,
                                               .x = at.Write<float>(0)});
    };
  }
  device_.Run(device::Queue::kCompute, std::move(merge));
}

void PlaneMerger::QueueMoments(size_t slot, const ShardPlanes& planes, int64_t from, int64_t count) {
  const int64_t begin = planes.range.begin + from;
  const std::vector<FloatBuffer*> moments = MomentsOf(target_, target_.moments);
  for (const checkpoint::ElementRange& range : wanted_) {
    const int64_t first = std::max(range.begin, begin), end = std::min(range.end, begin + count);
    if (first >= end) continue;
    const int64_t n = end - first, skipped = (first - begin) * kHalf;
    for (size_t i = 0; i < moments.size(); ++i) {
      device::Operation merge{.name = "merge",
                              .reads = {scratch_.Part(Half(slot, kMoments + 2 * i) + skipped, n * kHalf)},
                              .writes = {moments[i]->Part(first, n)}};
      if (planes.exact) merge.reads.push_back(scratch_.Part(Half(slot, kMoments + 2 * i + 1) + skipped, n * kHalf));
      merge.launch = [n, exact = planes.exact](const device::Addresses& at, const device::Launch& on) {
        return on(&RekindleKernels::merge_bf16, {.high = at.Read<uint16_t>(0),
                                                 .low = exact ? at.Read<uint16_t>(1) : nullptr,
                                                 .n = static_cast<size_t>(n),
                                                 .x = at.Write<float>(0)});
      };
      device_.Run(device::Queue::kCompute, std::move(merge));
    }
  }
}

void PlaneMerger::QueuePiece(size_t slot, const ShardPlanes& planes, int64_t from, int64_t count, bool is_merged) {
  const common::MutexLock queue_lock(queue_mutex_);
  const auto copy = [&](const device::Range& source, const device::Range& to) {
    device::Operation operation = device::Copy(source, to);
    operation.name = "restore";
    device_.Run(device::Queue::kCompute, std::move(operation));
  };
  // The queue's own order lets the slot's device memory be read before it is written again.
  if (is_merged) {
    copy(pinned_.all().Part(Half(slot, kWeights), count * kFloat),
         target_.weights.Part(planes.range.begin + from, count));
  }
  const size_t first = is_merged ? kMoments : kWeights;
  copy(pinned_.all().Part(Half(slot, first), Half(slot + 1, 0) - Half(slot, first)),
       scratch_.Part(Half(slot, first), Half(slot + 1, 0) - Half(slot, first)));
  const device::Mark left = device_.Record(device::Queue::kCompute);
  if (!is_merged) QueueWeights(slot, planes, from, count);
  QueueMoments(slot, planes, from, count);
  const common::MutexLock lock(mutex_);
  slots_[slot] = {.is_free = true, .left = left};
  changed_.NotifyOne();
}

absl::StatusOr<checkpoint::ReadState> PlaneMerger::Merge(std::span<const uint8_t> plane0,
                                                         std::span<const uint8_t> plane1) {
  const absl::StatusOr<ShardPlanes> planes = checkpoint::ParsePlanes(plane0, plane1, target_.weights.size());
  if (!planes.ok()) return planes.status();
  for (int64_t from = 0; from < planes->elements(); from += piece_) {
    const int64_t count = std::min(piece_, planes->elements() - from);
    const absl::StatusOr<size_t> slot = TakeSlot();
    if (!slot.ok()) return slot.status();
    const bool is_merged = Fill(*slot, *planes, from, count);
    QueuePiece(*slot, *planes, from, count, is_merged);
  }
  return checkpoint::ReadState{planes->range, planes->exact};
}

}  // namespace rekindle::train
