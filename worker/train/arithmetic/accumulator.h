// Sums a rank's micro-batch gradients for one step on its device, in int64 fixed point (exact) or float32.
//
// The sum holds whole micro-batches only. It is kept when a communicator fails, so a reduction must not overwrite it
// and must run out of place, from Sums(). A backward that has begun must be carried to its end. An abort stops
// communication, never a backward. A backward that fails loses all held micro-batches, and the caller must call Begin()
// again. Micro-batches are queued ahead of the device, and what came of them is taken later:
//
//   Begin(step, attempt, exponents)
//   for each micro-batch:
//     slot = Open(index)
//     queue an operation of the compute queue that calls Add(slot, p, g) for each parameter, and then Close(slot, loss)
//     Queued(slot), Take(false)
//   Take(true)
//   for each bucket, at the earliest after the last micro-batch added its parameters:  reduce Sums(bucket)
//
// The class is thread-compatible, and all operations that call Add() and Close() are on one queue. A reduction may read
// Sums() until Begin() or the next Add().
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_ACCUMULATOR_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_ACCUMULATOR_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/train/arithmetic/gradient_buckets.h"
#include "worker/train/arithmetic/gradient_buffer.h"
#include "worker/train/arithmetic/step_record.h"

namespace rekindle::train {

class GradientAccumulator {
 public:
  enum class Mode { kExact, kFloat32 };
  // At most `kMostUnderWay` micro-batches are queued whose results were not taken.
  static constexpr int kMostUnderWay = 8;

  // `device` and `layout` must outlive the accumulator. `micro_batches` is M, the number of micro-batches in the whole
  // step on all ranks.
  GradientAccumulator(device::Device& device, const ParameterLayout* layout, Mode mode, int micro_batches);
  // Allocates the sums. Returns RESOURCE_EXHAUSTED if the device has no room.
  absl::Status Allocate();
  // Sets the number of micro-batches in the whole step. The number applies from the next Begin(), so the caller must
  // call SetMicroBatches() before that.
  void SetMicroBatches(int micro_batches) { micro_batches_ = micro_batches; }

  // Forgets all held micro-batches. In exact mode `exponents` has one value a parameter (StateScalars::exponents). In
  // float mode it is ignored. Gradients arrive multiplied by 2^loss_scale_log2. The accumulator removes this factor
  // from the sums and maxima without an additional rounding. REQUIRES: no micro-batch is under way.
  void Begin(int64_t step, int64_t attempt, std::span<const int32_t> exponents, int loss_scale_log2 = 0);

  // Begins micro-batch `index` and returns its slot. Waits until a slot is free, and then returns what Take() does.
  absl::StatusOr<int> Open(int index);
  // Adds the gradient of one parameter, as the GradientSink of a backward. REQUIRES: gradient.size() is the parameter's
  // size, and the caller is an operation of the compute queue.
  void Add(int slot, int parameter, std::span<const float> gradient);
  // Ends the micro-batch with its loss, or with the error of its backward. REQUIRES: the caller is the operation that
  // called Add().
  void Close(int slot, const absl::StatusOr<LossSum>& loss);
  // Notes that the operation of the slot has been queued.
  void Queued(int slot);
  // Takes the results of the micro-batches that the device has computed, and with `wait` those of all. Returns the
  // error of a backward, or INTERNAL if a parameter arrived twice, if a buffer did not arrive, or if an index is out of
  // range or already held. A parameter that did not arrive adds nothing. After an error the sums are of no use until
  // Begin(), and the remaining micro-batches still have to be taken.
  absl::Status Take(bool wait);

  // Returns the indices of the micro-batches that were taken, in the order in which they were added.
  const std::vector<int>& held() const { return held_; }
  int64_t step() const { return record_.step; }
  int64_t attempt() const { return record_.attempt; }

  // Returns the local gradient sums of a bucket. Parameters that got no gradient in this step have zeros, so a rank
  // without micro-batches takes part in the reduction with zeros.
  device::Range Sums(const GradientBucket& bucket);
  const GradientBuffer& sums() const { return sums_; }

  // Returns the loss, tokens, maxima and flags of the held micro-batches.
  const StepRecord& record() const { return record_; }

 private:
  // Holds a micro-batch whose results were not taken.
  struct Slot {
    int index = 0;
    // `arrivals` counts for each parameter the calls of Add().
    std::vector<int> arrivals;
    absl::StatusOr<LossSum> loss = LossSum{};
    device::Mark done;
  };

  Slot& At(int slot) { return slots_[static_cast<size_t>(slot)]; }
  // Returns the part of a slot in the results of all slots.
  device::Range ResultsOf(const device::Range& of_all, int slot) const;
  // Returns the word of the loss, or of a parameter's largest magnitude, in the results of a slot.
  static device::Range WordOf(const device::Range& results, size_t word);
  absl::Status TakeOldest();

  device::Device& device_;
  const ParameterLayout* const layout_;
  const Mode mode_;
  int micro_batches_;
  GradientBuffer sums_;
  // `results_` has for each slot the largest magnitude of each parameter's gradient, and then the loss, if the device
  // computes it. They are copied to `results_on_host_` when the slot is closed.
  device::Memory results_;
  device::PinnedMemory results_on_host_;
  std::vector<int32_t> exponents_;
  int loss_scale_log2_ = 0;
  std::vector<int> held_;
  // `written_` says for each parameter whether its sum has a gradient of this step.
  std::vector<uint8_t> written_;
  std::array<Slot, kMostUnderWay> slots_;
  // `oldest_` is the slot of the oldest micro-batch that was not taken. The slots of `under_way_` ones follow on it.
  int oldest_ = 0;
  int under_way_ = 0;
  StepRecord record_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_ACCUMULATOR_H_
