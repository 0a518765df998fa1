#include "worker/train/arithmetic/accumulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check/check.h"

namespace rekindle::train {

using device::Queue;

GradientAccumulator::GradientAccumulator(device::Device& device, const ParameterLayout* layout, Mode mode,
                                         int micro_batches)
    : device_(device),
      layout_(layout),
      mode_(mode),
      micro_batches_(micro_batches),
      sums_(mode == Mode::kExact),
      written_(layout->parameters.size()),
      record_(EmptyRecord(0, 0, layout->parameters.size())) {}

absl::Status GradientAccumulator::Allocate() {
  if (absl::Status status = sums_.Allocate(device_, layout_->total, "the sums of the gradient"); !status.ok()) {
    return status;
  }
  const auto bytes = static_cast<int64_t>(kMostUnderWay * layout_->parameters.size() * sizeof(float));
  constexpr char kPurpose[] = "the maxima of the gradient";
  absl::StatusOr<device::Memory> maxima = device_.Allocate(bytes, kPurpose);
  if (!maxima.ok()) return maxima.status();
  absl::StatusOr<device::PinnedMemory> on_host = device_.AllocatePinned(bytes, kPurpose);
  if (!on_host.ok()) return on_host.status();
  maxima_ = *std::move(maxima);
  maxima_on_host_ = *std::move(on_host);
  return absl::OkStatus();
}

void GradientAccumulator::Begin(int64_t step, int64_t attempt, std::span<const int32_t> exponents,
                                int loss_scale_log2) {
  common::Check(under_way_ == 0, "a step begins when all micro-batches of the step before were taken");
  loss_scale_log2_ = loss_scale_log2;
  exponents_.assign(exponents.begin(), exponents.end());
  held_.clear();
  std::fill(written_.begin(), written_.end(), 0);
  record_ = EmptyRecord(step, attempt, layout_->parameters.size());
}

device::Range GradientAccumulator::MaximaOf(const device::Range& of_all, int slot) const {
  const auto bytes = static_cast<int64_t>(layout_->parameters.size() * sizeof(float));
  return of_all.Part(slot * bytes, bytes);
}

absl::StatusOr<int> GradientAccumulator::Open(int index) {
  if (under_way_ == kMostUnderWay) {
    if (absl::Status status = TakeOldest(); !status.ok()) return status;
  }
  const int slot = (oldest_ + under_way_) % kMostUnderWay;
  At(slot) = {.index = index, .arrivals = std::vector<int>(layout_->parameters.size())};
  ++under_way_;
  device_.Run(Queue::kCompute, device::Zero(MaximaOf(maxima_.all(), slot)));
  return slot;
}

void GradientAccumulator::Add(int slot, int parameter, std::span<const float> gradient) {
  common::Check(parameter >= 0 && static_cast<size_t>(parameter) < written_.size(), "a gradient is of a parameter");
  const ParameterInfo& info = layout_->parameters[parameter];
  common::Check(static_cast<int64_t>(gradient.size()) == info.size, "a gradient has the size of its parameter");
  const bool first = !written_[parameter];
  // The gradient stays until Add() returns, and what an operation queues on its own queue runs at once.
  device_.Run(
      Queue::kCompute,
      {.name = "accumulate",
       .reads = {},
       .writes = {sums_.Part(info.offset, info.size),
                  MaximaOf(maxima_.all(), slot).Part(parameter * static_cast<int64_t>(sizeof(float)), sizeof(float))},
       .launch = [&, first](const device::Addresses& at, const device::Launch& on) {
         RekindleAccumulate sum = {.gradient = gradient.data(),
                                   .n = gradient.size(),
                                   .first = first ? 1u : 0u,
                                   .largest = at.Write<uint32_t>(1)};
         if (mode_ == Mode::kExact) {
           sum.fixed = at.Write<int64_t>(0);
           sum.exponent = exponents_[static_cast<size_t>(parameter)] - loss_scale_log2_;
         } else {
           sum.sum = at.Write<float>(0);
           sum.factor = std::ldexp(1.0f, -loss_scale_log2_);
         }
         return on(&RekindleKernels::accumulate, sum);
       }});
  written_[parameter] = 1;
  ++At(slot).arrivals[parameter];
}

void GradientAccumulator::Close(int slot, const absl::StatusOr<LossSum>& loss) {
  At(slot).loss = loss;
  device_.Run(Queue::kCompute, device::Copy(MaximaOf(maxima_.all(), slot), MaximaOf(maxima_on_host_.all(), slot)));
}

void GradientAccumulator::Queued(int slot) { At(slot).done = device_.Record(Queue::kCompute); }

absl::Status GradientAccumulator::Take(bool wait) {
  absl::Status first;
  while (under_way_ > 0) {
    if (!wait) {
      const absl::StatusOr<bool> passed = device_.Passed(At(oldest_).done);
      first.Update(passed.status());
      if (!passed.ok() || !*passed) return first;
    }
    first.Update(TakeOldest());
  }
  return first;
}

absl::Status GradientAccumulator::TakeOldest() {
  const int number = oldest_;
  Slot& slot = At(number);
  oldest_ = (oldest_ + 1) % kMostUnderWay;
  --under_way_;
  if (absl::Status status = device_.Await(slot.done, nullptr); !status.ok()) return status;
  if (!slot.loss.ok()) return slot.loss.status();
  for (size_t p = 0; p < slot.arrivals.size(); ++p) {
    if (slot.arrivals[p] == 1) continue;
    return absl::InternalError(absl::StrCat("micro-batch ", slot.index, " delivered the gradient of ",
                                            layout_->parameters[p].name, " ", slot.arrivals[p], " times, not once"));
  }
  const int index = slot.index;
  if (index < 0 || index >= micro_batches_ || std::find(held_.begin(), held_.end(), index) != held_.end()) {
    return absl::InternalError(absl::StrCat("micro-batch ", index, " of step ", record_.step, " (of ", micro_batches_,
                                            ") is out of range or was added twice"));
  }
  held_.push_back(index);
  AddLoss(index, *slot.loss, micro_batches_, &record_);
  const device::Range range = MaximaOf(maxima_on_host_.all(), number);
  std::vector<float> maxima(layout_->parameters.size());
  std::memcpy(maxima.data(), maxima_on_host_.ForReading(range.offset, range.bytes).data(),
              static_cast<size_t>(range.bytes));
  int bad_parameter = -1;
  for (size_t p = 0; p < maxima.size(); ++p) {
    if (!std::isfinite(maxima[p]) && bad_parameter < 0) bad_parameter = static_cast<int>(p);
    record_.maxima[p] = std::max(record_.maxima[p], std::ldexp(maxima[p], -loss_scale_log2_));
  }
  if (bad_parameter >= 0) AddNotFinite(index, bad_parameter, &record_);
  return absl::OkStatus();
}

device::Range GradientAccumulator::Sums(const GradientBucket& bucket) {
  for (int p = bucket.first_parameter; p <= bucket.last_parameter; ++p) {
    const ParameterInfo& info = layout_->parameters[p];
    if (!written_[p]) device_.Run(Queue::kCompute, device::Zero(sums_.Part(info.offset, info.size)));
  }
  return sums_.Part(bucket.offset, bucket.count);
}

}  // namespace rekindle::train
