#include "worker/train/optimizers/optimizer_update.h"

#include "worker/contract/spec.h"

namespace rekindle::train {

void UpdateParameter(const OptimizerUpdate& update) {
#define REKINDLE_TRY(Name) \
  if (update.spec.kind == k##Name##Optimizer.name) return Update##Name(update);
  REKINDLE_OPTIMIZERS(REKINDLE_TRY, REKINDLE_TRY)
#undef REKINDLE_TRY
}

}  // namespace rekindle::train
