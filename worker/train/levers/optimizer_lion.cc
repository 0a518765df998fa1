// Declares Lion. It needs a learning rate three to ten times below AdamW's and a weight decay that is higher by the
// same factor. The defaults follow this.
#include "worker/contract/optimizer_fields.h"
#include "worker/train/levers/optimizers.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {WithDefault(kLearningRate, 1e-4), kBeta1, WithDefault(kBeta2, 0.99),
                                     WithDefault(kWeightDecay, 1)};

}  // namespace

const OptimizerKind kLionOptimizer{.name = "lion", .parameters = kParameters, .moments = 1};

}  // namespace rekindle::train
