#include "worker/train/arithmetic/accumulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check/check.h"

namespace rekindle::train {

using device::Queue;

namespace {

constexpr auto kWord = static_cast<int64_t>(sizeof(float));

// Returns the size of what a micro-batch gives beside its gradient: a word for each parameter and one for the loss.
int64_t ResultBytes(const ParameterLayout& layout) {
  return (static_cast<int64_t>(layout.parameters.size()) + 1) * kWord;
}

// Returns whether each micro-batch has to deliver a gradient or statistic of the parameter.
bool MustArrive(const ParameterInfo& info) { return info.is_buffer() && info.rule == BufferRule::kMean; }

}  // namespace

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
  const int64_t bytes = kMostUnderWay * ResultBytes(*layout_);
  constexpr char kPurpose[] = "the maxima of the gradient, and the losses";
  absl::StatusOr<device::Memory> results = device_.Allocate(bytes, kPurpose);
  if (!results.ok()) return results.status();
  absl::StatusOr<device::PinnedMemory> on_host = device_.AllocatePinned(bytes, kPurpose);
  if (!on_host.ok()) return on_host.status();
  results_ = *std::move(results);
  results_on_host_ = *std::move(on_host);
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

device::Range GradientAccumulator::ResultsOf(const device::Range& of_all, int slot) const {
  return of_all.Part(slot * ResultBytes(*layout_), ResultBytes(*layout_));
}

device::Range GradientAccumulator::WordOf(const device::Range& results, size_t word) {
  return results.Part(static_cast<int64_t>(word) * kWord, kWord);
}

absl::StatusOr<int> GradientAccumulator::Open(int index) {
  if (under_way_ == kMostUnderWay) {
    if (absl::Status status = TakeOldest(); !status.ok()) return status;
  }
  const int slot = (oldest_ + under_way_) % kMostUnderWay;
  At(slot) = {.index = index, .arrivals = std::vector<int>(layout_->parameters.size())};
  ++under_way_;
  device_.Run(Queue::kCompute, device::Zero(ResultsOf(results_.all(), slot)));
  return slot;
}

void GradientAccumulator::Add(int slot, int parameter, std::span<const float> gradient) {
  common::Check(parameter >= 0 && static_cast<size_t>(parameter) < written_.size(), "a gradient is of a parameter");
  const ParameterInfo& info = layout_->parameters[parameter];
  common::Check(static_cast<int64_t>(gradient.size()) == info.size, "a gradient has the size of its parameter");
  const bool first = !written_[parameter];
  // The gradient stays until Add() returns, and what an operation queues on its own queue runs at once.
  device_.Run(Queue::kCompute, {.name = "accumulate",
                                .reads = {},
                                .writes = {sums_.Part(info.offset, info.size),
                                           WordOf(ResultsOf(results_.all(), slot), static_cast<size_t>(parameter))},
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
  const device::Range results = ResultsOf(results_.all(), slot);
  // The loss stays where it is until Close() returns, as a gradient does in Add().
  if (loss.ok() && loss->on_device != nullptr) {
    device_.Run(Queue::kCompute,
                {.name = "take the loss",
                 .reads = {},
                 .writes = {WordOf(results, layout_->parameters.size())},
                 .launch = [from = loss->on_device](const device::Addresses& at, const device::Launch& on) {
                   return on(&RekindleKernels::copy, {.to = at.Write<float>(0), .from = from, .bytes = sizeof(float)});
                 }});
  }
  device_.Run(Queue::kCompute, device::Copy(results, ResultsOf(results_on_host_.all(), slot)));
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
    const ParameterInfo& info = layout_->parameters[p];
    if (slot.arrivals[p] == 1 || (slot.arrivals[p] == 0 && !MustArrive(info))) continue;
    return absl::InternalError(absl::StrCat("micro-batch ", slot.index, " delivered the gradient of ", info.name, " ",
                                            slot.arrivals[p], " times, not once"));
  }
  const int index = slot.index;
  if (index < 0 || index >= micro_batches_ || std::find(held_.begin(), held_.end(), index) != held_.end()) {
    return absl::InternalError(absl::StrCat("micro-batch ", index, " of step ", record_.step, " (of ", micro_batches_,
                                            ") is out of range or was added twice"));
  }
  held_.push_back(index);
  const device::Range range = ResultsOf(results_on_host_.all(), number);
  std::vector<float> maxima(slot.arrivals.size() + 1);
  std::memcpy(maxima.data(), results_on_host_.ForReading(range.offset, range.bytes).data(),
              static_cast<size_t>(range.bytes));
  LossSum loss = *slot.loss;
  if (loss.on_device != nullptr) loss.sum = maxima.back();
  maxima.pop_back();
  AddLoss(index, loss, micro_batches_, &record_);
  int bad_parameter = -1;
  for (size_t p = 0; p < maxima.size(); ++p) {
    if (!std::isfinite(maxima[p]) && bad_parameter < 0) bad_parameter = static_cast<int>(p);
    record_.maxima[p] = std::max(record_.maxima[p], std::ldexp(maxima[p], -loss_scale_log2_));
    if (slot.arrivals[p] > 0) record_.has_gradient[p] = 1;
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
