// Declares the optimizers. Each NAME of the list (kernels/optimizers/optimizer_list.h) is declared by `const
// OptimizerKind kNAMEOptimizer` in a file optimizer_*.cc of this folder. Elementwise ones are computed in
// kernels/optimizers, the others in worker/train/optimizers.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZERS_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZERS_H_

#include "kernels/optimizers/optimizer_list.h"
#include "worker/train/levers/optimizer_kind.h"

namespace rekindle::train {

#define REKINDLE_DECLARE(Name) extern const OptimizerKind k##Name##Optimizer;
REKINDLE_OPTIMIZERS(REKINDLE_DECLARE, REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZERS_H_
