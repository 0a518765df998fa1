// Makes one optimizer step over the whole flat state, or parts of it, from the reduced gradient. The step consists of
// the mean, clipping by global norm, and the update of the job's kind (optimizers/optimizer_update.h). The result has
// the same bits whatever the ranks, threads or instruction set. The functions are pure except for the state that they
// write.
#ifndef REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_H_
#define REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/arithmetic/gradient_view.h"
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
  // `step` is the number of the step that the update makes.
  int64_t step = 0;
  GradientView gradient;
  // `exponents` holds the fixed-point exponent of each parameter's gradient. It is used only if gradient.fixed is set.
  std::vector<int32_t> exponents;
};

// Plans the update that makes the weights and moments those of step scalars.step + 1 (bias correction counts from
// there). In fixed point the exponents are scalars.exponents. `count` is the number of tokens of the whole batch, by
// which the summed gradient is divided, and must be above 0. `learning_rate` is that of this step (LearningRate).
// `clip_norm` works as in torch's clip_grad_norm_: the gradient is scaled by min(1, clip_norm / (norm + 1e-6)), and 0
// means no clipping. Fixed point cannot represent NaN or an overflow, so the caller must first consult the combined
// StepRecord.
PlannedUpdate PlanUpdate(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                         const OptimizerSpec& optimizer, double learning_rate, double clip_norm,
                         const StateScalars& scalars);

// Points to memory that holds the state from element `origin` on. Moments that the optimizer does not keep may be null.
struct FlatState {
  float* weights = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  int64_t origin = 0;
};
FlatState FlatStateOf(TrainState& state);

// Updates the elements [begin, end) of `state` and skips buffers. A part of a parameter is allowed only if the
// optimizer is elementwise.
void UpdateElements(const ParameterLayout& layout, const PlannedUpdate& update, int64_t begin, int64_t end,
                    const FlatState& state);

// Updates all weights and moments at once. Update() does not change the scalars, so the caller must advance step,
// cursor and exponents together with this call.
UpdateResult Update(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                    const OptimizerSpec& optimizer, double learning_rate, double clip_norm, TrainState* state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_OPTIMIZER_H_
