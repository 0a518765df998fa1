// Declares Muon. Parameters that are not matrices get AdamW with the same learning rate, so it has AdamW's fields and
// defaults, too.
#include "worker/contract/optimizer_fields.h"
#include "worker/train/levers/optimizers.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {kLearningRate, kBeta1,       kBeta2,
                                     kEpsilon,      kWeightDecay, WithDefault(kMomentum, 0.95)};

}  // namespace

const OptimizerKind kMuonOptimizer{.name = "muon", .parameters = kParameters, .moments = 2, .elementwise = false};

}  // namespace rekindle::train
