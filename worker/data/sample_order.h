// Which samples of a set are for validation, and which make up micro-batch `index` of step `step`: pure functions.
//
// Rows of tables and images often lie sorted, so the validation samples are scattered, by a constant key: the same in
// every run. Sample number n of the run is place Permutation(seed, n / training samples)(n % training samples).
#ifndef REKINDLE_WORKER_DATA_SAMPLE_ORDER_H_
#define REKINDLE_WORKER_DATA_SAMPLE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::data {

// How a job cuts its samples into batches.
struct BatchShape {
  uint64_t seed = 0;
  int global_batch = 0;            // Samples a step; a multiple of micro_batch.
  int micro_batch = 0;             // At least 1.
  double validation_fraction = 0;  // [0, 0.9]. Above 0, validation has at least one sample.
};

// Immutable, so safe to share between threads.
class SampleOrder {
 public:
  // INVALID_ARGUMENT: the shape is out of range, or there are too few samples.
  static absl::StatusOr<SampleOrder> Create(int64_t samples, const BatchShape& shape);

  // Samples of a training micro-batch, and the number in the run of its first one, by which random changes are keyed.
  // REQUIRES step >= 0, 0 <= index < global_batch / micro_batch.
  std::vector<int64_t> Train(int64_t step, int index) const;
  int64_t FirstNumber(int64_t step, int index) const {
    return step * shape_.global_batch + int64_t{index} * shape_.micro_batch;
  }
  // The fixed validation list; the last one may have fewer. REQUIRES 0 <= index < validation_micro_batches().
  std::vector<int64_t> Validation(int index) const;
  int validation_micro_batches() const;

  int64_t train_samples() const { return samples_ - validation_samples_; }
  int64_t validation_samples() const { return validation_samples_; }
  // The `place`-th sample for training, in no run's order. REQUIRES place < train_samples().
  int64_t TrainSample(int64_t place) const;

 private:
  SampleOrder() = default;

  BatchShape shape_;
  int64_t samples_ = 0;
  int64_t validation_samples_ = 0;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_SAMPLE_ORDER_H_
