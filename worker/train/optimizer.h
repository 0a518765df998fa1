// One optimizer step over the whole flat state, from the reduced gradient: mean, clipping by global norm, and
// the update of the job's kind (levers/optimizer_kind.h).
// The same bits whatever the ranks, threads or instruction set. Pure but for the state it writes.
#ifndef REKINDLE_WORKER_TRAIN_OPTIMIZER_H_
#define REKINDLE_WORKER_TRAIN_OPTIMIZER_H_

#include <cstdint>

#include "worker/train/gradient_view.h"
#include "worker/train/model.h"
#include "worker/train/spec.h"
#include "worker/train/state.h"

namespace rekindle::train {

struct UpdateResult {
  double grad_norm = 0;    // L2 norm of the mean gradient, before clipping.
  bool found_inf = false;  // The gradient is not finite: nothing was written.
};

// Weights and moments become those of step state->scalars.step + 1 (bias correction counts from there). In fixed point
// the exponents are state->scalars.exponents. Scalars are not touched: the caller advances step, cursor and exponents
// together with this call.
//   count          tokens of the whole batch, by which the summed gradient is divided; > 0.
//   learning_rate  of this step (LearningRate).
//   clip_norm      as in torch's clip_grad_norm_: scaled by min(1, clip_norm / (norm + 1e-6)); 0: no clipping.
// Fixed point cannot show NaN or overflow: consult the combined StepRecord first.
UpdateResult Update(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                    const OptimizerSpec& optimizer, double learning_rate, double clip_norm, TrainState* state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OPTIMIZER_H_
