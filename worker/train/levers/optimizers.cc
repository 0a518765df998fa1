#include "worker/train/levers/optimizers.h"

#include <array>

namespace rekindle::train {

std::span<const OptimizerKind* const> Optimizers() {
#define REKINDLE_ENTRY(Name) &k##Name##Optimizer,
  static constexpr std::array kOptimizers{REKINDLE_OPTIMIZERS(REKINDLE_ENTRY, REKINDLE_ENTRY)};
#undef REKINDLE_ENTRY
  return kOptimizers;
}

const OptimizerKind* FindOptimizer(std::string_view name) {
  for (const OptimizerKind* kind : Optimizers()) {
    if (name == kind->name) return kind;
  }
  return nullptr;
}

const OptimizerKind& DefaultOptimizer() { return kAdamwOptimizer; }

}  // namespace rekindle::train
