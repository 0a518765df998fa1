// Lists the optimizers, in the order of their names. Each NAME is declared by `const OptimizerKind kNAMEOptimizer` in a
// file optimizer_*.cc of this folder, and computed by the function UpdateNAME in worker/train/optimizers.
#ifndef REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZERS_H_
#define REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZERS_H_

#include "worker/train/levers/optimizer_kind.h"

#define REKINDLE_OPTIMIZERS(OPTIMIZER) \
  OPTIMIZER(Adamw)                     \
  OPTIMIZER(Lion)                      \
  OPTIMIZER(Muon)                      \
  OPTIMIZER(Sgd)

namespace rekindle::train {

#define REKINDLE_DECLARE(Name) extern const OptimizerKind k##Name##Optimizer;
REKINDLE_OPTIMIZERS(REKINDLE_DECLARE)
#undef REKINDLE_DECLARE

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_LEVERS_OPTIMIZERS_H_
