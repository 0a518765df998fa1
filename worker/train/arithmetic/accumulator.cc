#include "worker/train/arithmetic/accumulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/check/check.h"
#include "kernels/sums/accumulate.h"
#include "kernels/sums/fixed_point.h"

namespace rekindle::train {

GradientAccumulator::GradientAccumulator(const ParameterLayout* layout, Mode mode, int micro_batches)
    : layout_(layout),
      mode_(mode),
      micro_batches_(micro_batches),
      sums_(mode == Mode::kExact, layout->total),
      written_(layout->parameters.size()),
      arrivals_(layout->parameters.size()),
      record_(EmptyRecord(0, 0, layout->parameters.size())) {}

void GradientAccumulator::Begin(int64_t step, int64_t attempt, std::span<const int32_t> exponents,
                                int loss_scale_log2) {
  loss_scale_log2_ = loss_scale_log2;
  exponents_.assign(exponents.begin(), exponents.end());
  held_.clear();
  bad_parameter_ = -1;
  std::fill(written_.begin(), written_.end(), 0);
  std::fill(arrivals_.begin(), arrivals_.end(), 0);
  record_ = EmptyRecord(step, attempt, layout_->parameters.size());
}

void GradientAccumulator::Add(int parameter, std::span<const float> gradient) {
  common::Check(parameter >= 0 && static_cast<size_t>(parameter) < written_.size(), "a gradient is of a parameter");
  const ParameterInfo& info = layout_->parameters[parameter];
  common::Check(static_cast<int64_t>(gradient.size()) == info.size, "a gradient has the size of its parameter");
  const bool first = !written_[parameter];
  const float maximum =
      mode_ == Mode::kExact
          ? kernels::AccumulateFixed(gradient.data(), info.size, exponents_[parameter] - loss_scale_log2_, first,
                                     sums_.fixed() + info.offset)
          : kernels::AccumulateFloat(gradient.data(), info.size, std::ldexp(1.0f, -loss_scale_log2_), first,
                                     sums_.values() + info.offset);
  if (!std::isfinite(maximum)) bad_parameter_ = bad_parameter_ < 0 ? parameter : std::min(bad_parameter_, parameter);
  record_.maxima[parameter] = std::max(record_.maxima[parameter], std::ldexp(maximum, -loss_scale_log2_));
  written_[parameter] = 1;
  ++arrivals_[parameter];
}

absl::Status GradientAccumulator::MicroBatchDone(int index, const LossSum& loss) {
  for (size_t p = 0; p < arrivals_.size(); ++p) {
    if (arrivals_[p] != 1) {
      return absl::InternalError(absl::StrCat("micro-batch ", index, " delivered the gradient of ",
                                              layout_->parameters[p].name, " ", arrivals_[p], " times, not once"));
    }
  }
  if (index < 0 || index >= micro_batches_ || std::find(held_.begin(), held_.end(), index) != held_.end()) {
    return absl::InternalError(absl::StrCat("micro-batch ", index, " of step ", record_.step, " (of ", micro_batches_,
                                            ") is out of range or was added twice"));
  }
  std::fill(arrivals_.begin(), arrivals_.end(), 0);
  held_.push_back(index);
  AddLoss(index, loss, micro_batches_, &record_);
  if (bad_parameter_ >= 0) AddNotFinite(index, std::exchange(bad_parameter_, -1), &record_);
  return absl::OkStatus();
}

const void* GradientAccumulator::Data(const GradientBucket& bucket) {
  for (int p = bucket.first_parameter; p <= bucket.last_parameter; ++p) {
    const ParameterInfo& info = layout_->parameters[p];
    if (!written_[p]) std::memset(sums_.At(info.offset), 0, info.size * element_bytes());
  }
  return sums_.At(bucket.offset);
}

}  // namespace rekindle::train
