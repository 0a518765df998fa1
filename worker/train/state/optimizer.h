// Makes one optimizer step over the whole flat state, or parts of it, from the reduced gradient. The step consists of
// the mean, clipping by global norm, and the update of the job's kind (kernels/optimizers/update.h,
// optimizers/matrix_update.h). The result has the same bits whatever the ranks, threads, instruction set or device. The
// functions are pure except for the operations that they queue.
#ifndef REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_H_
#define REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/device/contract/device.h"
#include "worker/train/arithmetic/gradient_buffer.h"
#include "worker/train/state/shard_map.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

struct UpdateResult {
  // `grad_norm` is the L2 norm of the mean gradient before clipping.
  double grad_norm = 0;
  // `found_inf` says that the gradient is not finite and that nothing was written.
  bool found_inf = false;
};

// Holds what an update needs to know beside the memory that it reads and writes.
struct PlannedUpdate {
  // If `result.found_inf` says that the gradient is not finite, the update must not be applied.
  UpdateResult result;
  OptimizerSpec optimizer;
  double learning_rate = 0;
  // `scale` multiplies the summed gradient. It includes the mean and the clipping.
  double scale = 0;
  // `gradient` is the memory of the summed gradient.
  const GradientBuffer* gradient = nullptr;
  // `exponents` holds the fixed-point exponent of each parameter's gradient. It is used only if the gradient is exact.
  std::vector<int32_t> exponents;
  // `updates` has for each parameter how many updates it will have had after this one. The value 0 stands for a
  // parameter that this update leaves as it is.
  std::vector<int64_t> updates;
};

// Plans the update that makes the weights and moments those of step scalars.step + 1. The parameters without a gradient
// in `has_gradient`, which has a value for each parameter, stay as they are. Bias correction counts the updates of the
// parameter. In fixed point the exponents are scalars.exponents. `squares` is the GradientSumOfSquares of the gradient.
// `count` is the number of tokens of the whole batch, by which the summed gradient is divided, and must be above 0.
// `learning_rate` is that of this step (LearningRate), which a parameter may multiply (ParameterInfo::rate).
// `clip_norm` works as in torch's clip_grad_norm_: the gradient is scaled by min(1, clip_norm / (norm + 1e-6)), and 0
// means no clipping. Fixed point cannot represent NaN or an overflow, so the caller must first consult the combined
// StepRecord. The gradient must outlive the update.
PlannedUpdate PlanUpdate(const GradientBuffer& gradient, double squares, int64_t count, const OptimizerSpec& optimizer,
                         double learning_rate, double clip_norm, const StateScalars& scalars,
                         std::span<const uint8_t> has_gradient);

// Returns the operation that updates the elements of `range` in `state`, and skips buffers and parameters without a
// gradient. A part of a parameter is allowed only if the optimizer is elementwise. What is passed by reference must
// outlive the operation.
device::Operation UpdateOf(const ParameterLayout& layout, const PlannedUpdate& update, const ElementRange& range,
                           TrainState& state);

// Names memory for the new values of some elements. What has no memory is not kept.
struct NewValues {
  device::Range weights, first_moment, second_moment;
};
// Returns the operation that writes the values which UpdateOf() would give to the elements of `range`, and leaves
// `state` as it is. Without an update these are the present values. REQUIRES: the optimizer is elementwise.
device::Operation UpdatedCopyOf(const ParameterLayout& layout, const std::optional<PlannedUpdate>& update,
                                const ElementRange& range, const TrainState& state, const NewValues& out);

// Updates all weights and moments at once, as if each parameter had a gradient, and waits until that is done. Update()
// does not change the scalars, so the caller must advance step, cursor and exponents together with this call. Returns
// the error of the device, if it has one.
absl::StatusOr<UpdateResult> Update(device::Device& device, const ParameterLayout& layout,
                                    const GradientBuffer& gradient, int64_t count, const OptimizerSpec& optimizer,
                                    double learning_rate, double clip_norm, TrainState* state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_H_
