// Updates a model's buffers (the running statistics of batch norm), once a step and alike on all ranks.
#ifndef REKINDLE_WORKER_TRAIN_STEP_BUFFERS_H_
#define REKINDLE_WORKER_TRAIN_STEP_BUFFERS_H_

#include "worker/contract/model_interface.h"
#include "worker/train/arithmetic/gradient_view.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Changes each buffer b to b + momentum * (mean - b), where `mean` is the mean of the micro-batches' statistics. `sums`
// has the sums of the statistics beside the gradient. In fixed point (with the exponents state->scalars.exponents) the
// result has the same bits however the micro-batches were split among the ranks. `micro_batches` is M, the number in
// the whole step.
void UpdateBuffers(const ParameterLayout& layout, const GradientView& sums, int micro_batches, TrainState* state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_BUFFERS_H_
