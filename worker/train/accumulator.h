// The sum of a rank's micro-batch gradients for one step, in int64 fixed point (exact) or float32.
//
// It holds whole micro-batches only, and survives the communicator: reduce out of place, from Data(). Between Add() and
// MicroBatchDone() the sum is of no use, so a backward that has begun must be carried to its end; an abort stops
// communication, never a backward. (A backward that fails loses all held micro-batches: Begin again.)
//
//   Begin(step, attempt, exponents)
//   for each micro-batch:  model.Backward(..., [&](p, g) { accumulator.Add(p, g); }),  MicroBatchDone(index, loss)
//   for each bucket, at the earliest after the last micro-batch added its parameters:  AllReduce(Data(bucket), ...)
//
// Thread-compatible: one thread at a time; a communicator may read Data() until Begin or the next Add.
#ifndef REKINDLE_WORKER_TRAIN_ACCUMULATOR_H_
#define REKINDLE_WORKER_TRAIN_ACCUMULATOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "worker/train/gradient_buckets.h"
#include "worker/train/gradient_view.h"
#include "worker/train/model.h"
#include "worker/train/step_record.h"

namespace rekindle::train {

class GradientAccumulator {
 public:
  enum class Mode { kExact, kFloat32 };

  // `layout` must outlive it. `micro_batches` is M, of the whole step on all ranks.
  GradientAccumulator(const ParameterLayout* layout, Mode mode, int micro_batches);
  // Before the next Begin.
  void SetMicroBatches(int micro_batches) { micro_batches_ = micro_batches; }

  // Forgets what it holds. `exponents`: one a parameter in exact mode (StateScalars::exponents), else ignored.
  // Gradients come times 2^loss_scale_log2; sums and maxima are without it, without a rounding of their own.
  void Begin(int64_t step, int64_t attempt, std::span<const int32_t> exponents, int loss_scale_log2 = 0);

  // A GradientSink. Precondition: gradient.size() is the parameter's size.
  void Add(int parameter, std::span<const float> gradient);

  // Ends the micro-batch. INTERNAL when a parameter came not exactly once, or the micro-batch is held already; then
  // the sums are of no use until Begin.
  absl::Status MicroBatchDone(int index, const LossSum& loss);

  // Indices of the micro-batches in the sum, in the order added.
  const std::vector<int>& held() const { return held_; }
  int64_t step() const { return record_.step; }
  int64_t attempt() const { return record_.attempt; }

  // The local sums of a bucket: bucket.count int64 or floats. Zeros for parameters that got nothing in this step
  // (a rank without micro-batches takes part with zeros).
  const void* Data(const GradientBucket& bucket);
  size_t element_bytes() const { return mode_ == Mode::kExact ? sizeof(int64_t) : sizeof(float); }

  // Loss, tokens, maxima and flags of what it holds.
  const StepRecord& record() const { return record_; }

 private:
  const ParameterLayout* const layout_;
  const Mode mode_;
  int micro_batches_;
  GradientBuffer sums_;
  std::vector<int32_t> exponents_;
  int loss_scale_log2_ = 0;
  std::vector<int> held_;
  std::vector<uint8_t> written_;  // By parameter: has a sum in this step.
  std::vector<int> arrivals_;     // By parameter: calls of Add in this micro-batch.
  int bad_parameter_ = -1;        // The first of this micro-batch that was not finite; -1: none.
  StepRecord record_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ACCUMULATOR_H_
