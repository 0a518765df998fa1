// Declares what an optimizer is, without the code that computes it (worker/train/optimizers). The coordinator fills in
// and checks spec.optimizer with this.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_

#include <span>
#include <string_view>

#include "worker/contract/parameter.h"

namespace rekindle::train {

struct OptimizerKind {
  const char* name;
  // `parameters` declares the fields of spec.optimizer that this kind has, except `kind`.
  std::span<const Parameter> parameters;
  // `moments` is the number of moments that this kind keeps: 0 means none, 1 the first, 2 both.
  int moments;
  // An elementwise kind can update any part of a parameter by itself.
  bool elementwise = true;
};

std::span<const OptimizerKind* const> Optimizers();
// Returns null if no optimizer has that name.
const OptimizerKind* FindOptimizer(std::string_view name);
// Returns the kind of a job that names none.
const OptimizerKind& DefaultOptimizer();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_
