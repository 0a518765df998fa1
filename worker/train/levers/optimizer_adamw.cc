// Declares AdamW, Adam with decoupled weight decay.
#include "worker/contract/optimizer_fields.h"
#include "worker/train/levers/optimizers.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {kLearningRate, kBeta1, kBeta2, kEpsilon, kWeightDecay};

}  // namespace

const OptimizerKind kAdamwOptimizer{.name = "adamw", .parameters = kParameters, .moments = 2};

}  // namespace rekindle::train
