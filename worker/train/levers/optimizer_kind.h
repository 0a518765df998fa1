// Declares what an optimizer is, without the code that computes it (worker/train/optimizers). By these declarations the
// coordinator fills in and checks spec.optimizer.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_

#include <span>
#include <string_view>

#include "worker/contract/parameter.h"

namespace rekindle::train {

struct OptimizerKind {
  const char* name;
  // `parameters` declares the fields of spec.optimizer that this kind of optimizer has, except `kind`.
  std::span<const Parameter> parameters;
  // `moments` is the number of moments that this kind of optimizer keeps: 0 means none, 1 the first, 2 both.
  int moments;
  // An elementwise optimizer can update any part of a parameter without the rest of it. Only such an optimizer has a
  // kernel for GPUs.
  bool elementwise = true;
};

std::span<const OptimizerKind* const> Optimizers();
// Returns the optimizer called `name`, or null if there is none.
const OptimizerKind* FindOptimizer(std::string_view name);
// Returns the optimizer of a job that names none.
const OptimizerKind& DefaultOptimizer();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZER_KIND_H_
