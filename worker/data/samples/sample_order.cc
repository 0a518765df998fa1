#include "worker/data/samples/sample_order.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "worker/data/declared/limits.h"
#include "worker/data/samples/permutation.h"

namespace rekindle::data {
namespace {

// The key that chooses the samples for validation never changes, so that validation is the same in every run.
constexpr uint64_t kSplit = 0x73706C6974;

}  // namespace

absl::Status CheckShape(const BatchShape& shape) {
  if (shape.micro_batch < 1 || shape.global_batch < 1 || shape.global_batch % shape.micro_batch != 0) {
    return absl::InvalidArgumentError(absl::StrCat("training.global_batch (", shape.global_batch,
                                                   ") must be a positive multiple of training.micro_batch (",
                                                   shape.micro_batch, ")"));
  }
  if (!(shape.validation_fraction >= 0 && shape.validation_fraction <= kMostValidationFraction)) {
    return absl::InvalidArgumentError(absl::StrCat("data.validation_fraction is ", shape.validation_fraction,
                                                   "; it must be from 0 to ", kMostValidationFraction));
  }
  return absl::OkStatus();
}

absl::StatusOr<SampleOrder> SampleOrder::Create(int64_t samples, const BatchShape& shape) {
  if (absl::Status status = CheckShape(shape); !status.ok()) return status;
  const bool validates = shape.validation_fraction > 0;
  const int64_t needed = validates ? 2 : 1;
  if (samples < needed) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", samples, " samples, at least ", needed,
                                                   " are needed: one for training",
                                                   validates ? " and one for validation" : ""));
  }
  SampleOrder order;
  order.shape_ = shape;
  order.samples_ = samples;
  if (validates) {
    const double wanted = std::floor(static_cast<double>(samples) * shape.validation_fraction);
    order.validation_samples_ = std::clamp<int64_t>(static_cast<int64_t>(wanted), 1, samples - 1);
  }
  return order;
}

int64_t SampleOrder::TrainSample(int64_t place) const {
  return static_cast<int64_t>(Permutation(kSplit, 0, samples_)(place));
}

std::vector<int64_t> SampleOrder::Train(int64_t step, int index) const {
  std::vector<int64_t> samples;
  const int64_t first = FirstNumber(step, index), count = train_samples();
  for (int64_t n = first; n < first + shape_.micro_batch; ++n) {
    const Permutation order(shape_.seed, n / count, count);
    samples.push_back(TrainSample(static_cast<int64_t>(order(n % count))));
  }
  return samples;
}

int SampleOrder::validation_micro_batches() const {
  return static_cast<int>((validation_samples_ + shape_.micro_batch - 1) / shape_.micro_batch);
}

std::vector<int64_t> SampleOrder::Validation(int index) const {
  const Permutation split(kSplit, 0, samples_);
  const int64_t first = train_samples() + int64_t{index} * shape_.micro_batch;
  std::vector<int64_t> samples;
  for (int64_t place = first; place < std::min(first + shape_.micro_batch, samples_); ++place) {
    samples.push_back(static_cast<int64_t>(split(place)));
  }
  return samples;
}

}  // namespace rekindle::data
