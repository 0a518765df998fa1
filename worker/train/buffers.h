// The step of a model's buffers (batch norm's running statistics): once a step, on all ranks alike.
#ifndef REKINDLE_WORKER_TRAIN_BUFFERS_H_
#define REKINDLE_WORKER_TRAIN_BUFFERS_H_

#include "worker/train/gradient_view.h"
#include "worker/train/model.h"
#include "worker/train/state.h"

namespace rekindle::train {

// Each buffer b becomes b + momentum * (mean - b), where mean is that of the micro-batches' statistics, whose sums came
// with the gradient; in fixed point therefore the same bits however the micro-batches were shared out. The exponents
// are state->scalars.exponents. `micro_batches` is M, of the whole step.
void UpdateBuffers(const ParameterLayout& layout, const GradientView& sums, int micro_batches, TrainState* state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_BUFFERS_H_
