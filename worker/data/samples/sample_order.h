// Decides which samples of a set are for validation, and which make up micro-batch `index` of step `step`. Both are
// pure functions.
//
// Rows of tables and images are often sorted, so the validation samples are scattered by a constant key. They are the
// same in every run. Sample number n of the run is place Permutation(seed, n / training samples)(n % training samples).
#ifndef REKINDLE_WORKER_DATA_SAMPLES_SAMPLE_ORDER_H_
#define REKINDLE_WORKER_DATA_SAMPLES_SAMPLE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::data {

// `BatchShape` says how a job cuts its samples into batches.
struct BatchShape {
  uint64_t seed = 0;
  // `global_batch` is the number of samples a step. It is a multiple of `micro_batch`.
  int global_batch = 0;
  // `micro_batch` is at least 1.
  int micro_batch = 0;
  // `validation_fraction` is from 0 to kMostValidationFraction. Above 0, validation has at least one sample.
  double validation_fraction = 0;
};

// Returns INVALID_ARGUMENT, with the name of the field, if the shape is out of range.
absl::Status CheckShape(const BatchShape& shape);

// The class is immutable, so threads may share it.
class SampleOrder {
 public:
  // Returns INVALID_ARGUMENT if the shape is out of range or if there are too few samples.
  static absl::StatusOr<SampleOrder> Create(int64_t samples, const BatchShape& shape);

  // Returns the samples of a training micro-batch. FirstNumber() returns the number in the run of its first sample, by
  // which random changes are keyed. REQUIRES: step >= 0, and 0 <= index < global_batch / micro_batch.
  std::vector<int64_t> Train(int64_t step, int index) const;
  int64_t FirstNumber(int64_t step, int index) const {
    return step * shape_.global_batch + int64_t{index} * shape_.micro_batch;
  }
  // Returns one micro-batch of the fixed validation list. The last one may have fewer samples. REQUIRES: 0 <= index <
  // validation_micro_batches().
  std::vector<int64_t> Validation(int index) const;
  int validation_micro_batches() const;

  int64_t train_samples() const { return samples_ - validation_samples_; }
  int64_t validation_samples() const { return validation_samples_; }
  // Returns the `place`-th sample for training. This is not the order of any run. REQUIRES: place < train_samples().
  int64_t TrainSample(int64_t place) const;

 private:
  SampleOrder() = default;

  BatchShape shape_;
  int64_t samples_ = 0;
  int64_t validation_samples_ = 0;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_SAMPLES_SAMPLE_ORDER_H_
