#include "worker/train/optimizers/matrix_update.h"

#include "worker/train/levers/optimizers.h"

namespace rekindle::train {

std::optional<RekindleOptimizer> KernelOf(std::string_view kind) {
#define REKINDLE_TRY(Name) \
  if (kind == k##Name##Optimizer.name) return kRekindle##Name;
  REKINDLE_ELEMENTWISE_OPTIMIZERS(REKINDLE_TRY)
#undef REKINDLE_TRY
  return std::nullopt;
}

void UpdateMatrix(std::string_view kind, const MatrixUpdate& update) {
#define REKINDLE_TRY(Name) \
  if (kind == k##Name##Optimizer.name) return Update##Name(update);
  REKINDLE_OPTIMIZERS(REKINDLE_NO_OPTIMIZER, REKINDLE_TRY)
#undef REKINDLE_TRY
}

}  // namespace rekindle::train
