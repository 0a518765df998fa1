// Declares stochastic gradient descent with momentum.
#include "worker/contract/optimizer_fields.h"
#include "worker/train/levers/optimizers.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {WithDefault(kLearningRate, 0.1), WithDefault(kWeightDecay, 1e-4),
                                     WithDefault(kMomentum, 0.9)};

}  // namespace

const OptimizerKind kSgdOptimizer{.name = "sgd", .parameters = kParameters, .moments = 1};

}  // namespace rekindle::train
