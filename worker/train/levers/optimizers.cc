#include <array>

#include "worker/train/levers/optimizer_kind.h"

namespace rekindle::train {

extern const OptimizerKind kAdamwOptimizer, kLionOptimizer, kMuonOptimizer, kSgdOptimizer;

std::span<const OptimizerKind* const> Optimizers() {
  static constexpr std::array kOptimizers{
      &kAdamwOptimizer,  //
      &kLionOptimizer,   //
      &kMuonOptimizer,   //
      &kSgdOptimizer,    //
  };
  return kOptimizers;
}

const OptimizerKind* FindOptimizer(std::string_view name) {
  for (const OptimizerKind* kind : Optimizers()) {
    if (name == kind->name) return kind;
  }
  return nullptr;
}

}  // namespace rekindle::train
