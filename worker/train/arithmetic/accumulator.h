// Sums a rank's micro-batch gradients for one step, in int64 fixed point (exact) or float32.
//
// The sum holds whole micro-batches only. It is kept when a communicator fails, so a reduction must not overwrite it
// and must run out of place, from Data(). Between Add() and MicroBatchDone() the sum is of no use, so a backward that
// has begun must be carried to its end. An abort stops communication, never a backward. A backward that fails loses all
// held micro-batches, and the caller must call Begin() again. The calls come in this order:
//
//   Begin(step, attempt, exponents)
//   for each micro-batch:  model.Backward(..., [&](p, g) { accumulator.Add(p, g); }),  MicroBatchDone(index, loss)
//   for each bucket, at the earliest after the last micro-batch added its parameters:  AllReduce(Data(bucket), ...)
//
// The class is thread-compatible: only one thread at a time may use it. A communicator may read Data() until Begin() or
// the next Add().
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_ACCUMULATOR_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_ACCUMULATOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"
#include "worker/train/arithmetic/gradient_buckets.h"
#include "worker/train/arithmetic/gradient_view.h"
#include "worker/train/arithmetic/step_record.h"

namespace rekindle::train {

class GradientAccumulator {
 public:
  enum class Mode { kExact, kFloat32 };

  // `layout` must outlive the accumulator. `micro_batches` is M, the number of micro-batches in the whole step on all
  // ranks.
  GradientAccumulator(const ParameterLayout* layout, Mode mode, int micro_batches);
  // Sets the number of micro-batches in the whole step. The number applies from the next Begin(), so the caller must
  // call SetMicroBatches() before that.
  void SetMicroBatches(int micro_batches) { micro_batches_ = micro_batches; }

  // Forgets all held micro-batches. In exact mode `exponents` has one value a parameter (StateScalars::exponents). In
  // float mode it is ignored. Gradients arrive multiplied by 2^loss_scale_log2. The accumulator removes this factor
  // from the sums and maxima without an additional rounding.
  void Begin(int64_t step, int64_t attempt, std::span<const int32_t> exponents, int loss_scale_log2 = 0);

  // Adds the gradient of one parameter, as the GradientSink of a backward. REQUIRES: gradient.size() is the parameter's
  // size.
  void Add(int parameter, std::span<const float> gradient);

  // Ends the micro-batch. Returns INTERNAL if a parameter did not arrive exactly once, or if the index is out of range
  // or already held. After an error the sums are of no use until Begin().
  absl::Status MicroBatchDone(int index, const LossSum& loss);

  // Returns the indices of the micro-batches in the sum, in the order in which they were added.
  const std::vector<int>& held() const { return held_; }
  int64_t step() const { return record_.step; }
  int64_t attempt() const { return record_.attempt; }

  // Returns the local gradient sums of a bucket, as bucket.count int64 values or floats. Parameters that got no
  // gradient in this step have zeros, so a rank without micro-batches takes part in the reduction with zeros.
  const void* Data(const GradientBucket& bucket);
  size_t element_bytes() const { return mode_ == Mode::kExact ? sizeof(int64_t) : sizeof(float); }

  // Returns the loss, tokens, maxima and flags of the held micro-batches.
  const StepRecord& record() const { return record_; }

 private:
  const ParameterLayout* const layout_;
  const Mode mode_;
  int micro_batches_;
  GradientBuffer sums_;
  std::vector<int32_t> exponents_;
  int loss_scale_log2_ = 0;
  std::vector<int> held_;
  // `written_` says for each parameter whether its sum has a gradient of this step.
  std::vector<uint8_t> written_;
  // `arrivals_` counts for each parameter the calls of Add() in the current micro-batch.
  std::vector<int> arrivals_;
  // `bad_parameter_` is the first parameter whose gradient in the current micro-batch was not finite, or -1.
  int bad_parameter_ = -1;
  StepRecord record_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_ACCUMULATOR_H_
