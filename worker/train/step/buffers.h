// Updates a model's buffers (the running statistics of batch norm), once a step and alike on all ranks.
#ifndef REKINDLE_WORKER_TRAIN_STEP_BUFFERS_H_
#define REKINDLE_WORKER_TRAIN_STEP_BUFFERS_H_

#include "worker/contract/model_interface.h"
#include "worker/device/contract/device.h"
#include "worker/train/arithmetic/gradient_buffer.h"
#include "worker/train/state/train_state.h"

namespace rekindle::train {

// Queues the change of each buffer b to b + momentum * (mean - b), where `mean` is the mean of the micro-batches'
// statistics. `sums` has the sums of the statistics beside the gradient. In fixed point (with the exponents
// state.scalars.exponents) the result has the same bits however the micro-batches were split among the ranks.
// `micro_batches` is M, the number in the whole step. `sums` and `layout` must outlive the queued operations.
void UpdateBuffers(device::Device& device, const ParameterLayout& layout, const GradientBuffer& sums, int micro_batches,
                   const TrainState& state);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_BUFFERS_H_
