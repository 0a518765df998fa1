// An optimizer: one file optimizer_*.cc, one line in optimizers.cc.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "worker/train/levers/parameter.h"

namespace rekindle::train {

struct OptimizerSpec;

// One update of one parameter. The gradient is fixed[i] * scale, or values[i] * scale: exactly one is set; the mean and
// clipping are in the scale, so that one pass does all.
struct OptimizerUpdate {
  const OptimizerSpec& spec;
  double learning_rate;
  double weight_decay;  // 0 for parameters that have none.
  int64_t step;         // Counts from 1.
  const int64_t* fixed;
  const float* values;
  double scale;
  int64_t size;
  std::span<const int64_t> shape;  // Of the parameter: `size` elements, or more when the kind is elementwise.
  float* weights;
  float* first_moment;  // As many elements as the weights; zeros before the first step. Null where not used.
  float* second_moment;
};

// Calls `pass` with the gradient and its scale, as the kernels take them.
template <typename Pass>
void WithGradient(const OptimizerUpdate& update, const Pass& pass) {
  if (update.fixed != nullptr) {
    pass(update.fixed, update.scale);
  } else {
    pass(update.values, static_cast<float>(update.scale));
  }
}

struct OptimizerKind {
  const char* name;
  std::span<const Parameter> parameters;  // Of spec.optimizer, beside kind.
  int moments;                            // That it keeps: 0 none, 1 the first, 2 both.
  bool elementwise = true;                // Any part of a parameter may be updated by itself.
  // The same bits on every machine.
  void (*update)(const OptimizerUpdate& update);
};

std::span<const OptimizerKind* const> Optimizers();
const OptimizerKind* FindOptimizer(std::string_view name);  // Null: there is none.

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_
