// Decides which samples of a set are for validation, and which make up micro-batch `index` of step `step`. Both
// decisions are pure functions.
//
// The validation samples are chosen by a permutation with a constant key, because rows of tables and images are often
// sorted. They are the same in every run. With t training samples, the n-th sample that a run reads is training sample
// Permutation(seed, n / t)(n % t).
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
  // `micro_batch` is the number of samples of a micro-batch, at least 1.
  int micro_batch = 0;
  // `validation_fraction` of all samples are for validation, from 0 to kMostValidationFraction. If it is above 0, there
  // is at least one validation sample.
  double validation_fraction = 0;
};

// Returns INVALID_ARGUMENT, with the name of the field, if a field of the BatchShape is out of range.
absl::Status CheckShape(const BatchShape& shape);

// A SampleOrder is immutable, so threads may share it.
class SampleOrder {
 public:
  // Decides the order of a set of `samples` samples. Returns INVALID_ARGUMENT if `shape` is out of range or if the
  // samples are too few for it.
  static absl::StatusOr<SampleOrder> Create(int64_t samples, const BatchShape& shape);

  // Train() returns the samples of a training micro-batch. FirstNumber() returns the number of the micro-batch's first
  // sample, counted from the start of the run. Random changes of the samples are keyed by this number. REQUIRES: step
  // >= 0, and 0 <= index < global_batch / micro_batch.
  std::vector<int64_t> Train(int64_t step, int index) const;
  int64_t FirstNumber(int64_t step, int index) const {
    return step * shape_.global_batch + int64_t{index} * shape_.micro_batch;
  }
  // Returns micro-batch `index` of the validation samples, which have a fixed order. The last micro-batch may have
  // fewer samples. REQUIRES: 0 <= index < validation_micro_batches().
  std::vector<int64_t> Validation(int index) const;
  int validation_micro_batches() const;

  int64_t train_samples() const { return samples_ - validation_samples_; }
  int64_t validation_samples() const { return validation_samples_; }
  // The training samples have a fixed order, which each run permutes. Returns the sample that is number `place` in the
  // fixed order. REQUIRES: 0 <= place < train_samples().
  int64_t TrainSample(int64_t place) const;

 private:
  SampleOrder() = default;

  BatchShape shape_;
  int64_t samples_ = 0;
  int64_t validation_samples_ = 0;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_SAMPLES_SAMPLE_ORDER_H_
