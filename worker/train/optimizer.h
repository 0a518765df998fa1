// One optimizer step over the whole flat state, or parts of it, from the reduced gradient: mean, clipping by global
// norm, and the update of the job's kind (levers/optimizer_kind.h).
// The same bits whatever the ranks, threads or instruction set. Pure but for the state it writes.
#ifndef REKINDLE_WORKER_TRAIN_OPTIMIZER_H_
#define REKINDLE_WORKER_TRAIN_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "worker/train/gradient_view.h"
#include "worker/train/model.h"
#include "worker/train/spec.h"
#include "worker/train/state.h"

namespace rekindle::train {

struct UpdateResult {
  double grad_norm = 0;    // L2 norm of the mean gradient, before clipping.
  bool found_inf = false;  // The gradient is not finite: nothing was written.
};

// What an update needs to know beside the memory that it reads and writes.
struct PlannedUpdate {
  UpdateResult result;  // found_inf: there is nothing to apply.
  OptimizerSpec optimizer;
  double learning_rate = 0;
  double scale = 0;  // Of the summed gradient: the mean, and clipping.
  int64_t step = 0;  // That it makes.
  GradientView gradient;
  std::vector<int32_t> exponents;  // With gradient.fixed.
};

// Weights and moments become those of step scalars.step + 1 (bias correction counts from there). In fixed point the
// exponents are scalars.exponents.
//   count          tokens of the whole batch, by which the summed gradient is divided; > 0.
//   learning_rate  of this step (LearningRate).
//   clip_norm      as in torch's clip_grad_norm_: scaled by min(1, clip_norm / (norm + 1e-6)); 0: no clipping.
// Fixed point cannot show NaN or overflow: consult the combined StepRecord first.
PlannedUpdate PlanUpdate(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                         const OptimizerSpec& optimizer, double learning_rate, double clip_norm,
                         const StateScalars& scalars);

// Memory that holds the state from element `origin` on. Moments that the optimizer does not keep may be null.
struct FlatState {
  float* weights = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  int64_t origin = 0;
};
FlatState FlatStateOf(TrainState& state);

// Elements [begin, end) of it; buffers are passed over. Parts of a parameter only if the optimizer is elementwise.
void UpdateElements(const ParameterLayout& layout, const PlannedUpdate& update, int64_t begin, int64_t end,
                    const FlatState& state);

// All at once. Scalars are not touched: the caller advances step, cursor and exponents together with this call.
UpdateResult Update(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                    const OptimizerSpec& optimizer, double learning_rate, double clip_norm, TrainState* state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OPTIMIZER_H_
