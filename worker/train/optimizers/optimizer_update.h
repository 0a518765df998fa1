// Declares the update of one parameter by an optimizer. Each optimizer is one file of this folder.
#ifndef REKINDLE_WORKER_TRAIN_OPTIMIZERS_OPTIMIZER_UPDATE_H_
#define REKINDLE_WORKER_TRAIN_OPTIMIZERS_OPTIMIZER_UPDATE_H_

#include <cstdint>
#include <span>

#include "worker/train/levers/optimizers.h"

namespace rekindle::train {

struct OptimizerSpec;

// Describes one update of one parameter. The gradient is fixed[i] * scale or values[i] * scale, and exactly one of the
// two pointers is set. The scale includes the mean and the clipping, so that one pass is enough.
struct OptimizerUpdate {
  const OptimizerSpec& spec;
  double learning_rate;
  // `weight_decay` is 0 for parameters that are not decayed.
  double weight_decay;
  // `step` is the number of the step that the update makes, counted from 1.
  int64_t step;
  const int64_t* fixed;
  const float* values;
  double scale;
  int64_t size;
  // `shape` is the shape of the whole parameter. The update covers `size` elements of it: all of them, or a part if the
  // optimizer is elementwise.
  std::span<const int64_t> shape;
  float* weights;
  // The moments have as many elements as the weights and are zero before the first step. A moment that the optimizer
  // does not use is null.
  float* first_moment;
  float* second_moment;
};

// Calls `pass` with the gradient of `update` and its scale, in the types that the kernels take.
template <typename Pass>
void WithGradient(const OptimizerUpdate& update, const Pass& pass) {
  if (update.fixed != nullptr) {
    pass(update.fixed, update.scale);
  } else {
    pass(update.values, static_cast<float>(update.scale));
  }
}

#define REKINDLE_DECLARE(Name) void Update##Name(const OptimizerUpdate& update);
REKINDLE_OPTIMIZERS(REKINDLE_DECLARE, REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

// Applies the update of the optimizer that `update.spec` names. The result has the same bits on every machine.
// REQUIRES: FindOptimizer(update.spec.kind) is not null.
void UpdateParameter(const OptimizerUpdate& update);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_OPTIMIZERS_OPTIMIZER_UPDATE_H_
