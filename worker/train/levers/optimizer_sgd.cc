// Stochastic gradient descent with momentum: kernels/sgd.h. Weight decay is part of the gradient, as in
// torch.optim.SGD.
#include "kernels/sgd.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {
    {.field = "learning_rate", .initial = 0.1, .low = 0, .high = 100, .ends = Parameter::Ends::kLowOut},
    {.field = "weight_decay", .initial = 1e-4, .low = 0, .high = 100},
    {.field = "momentum", .initial = 0.9, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
};

void Update(const OptimizerUpdate& u) {
  const kernels::Sgd sgd{.weight_decay = static_cast<float>(u.weight_decay),
                         .momentum = static_cast<float>(u.spec.momentum),
                         .step_size = static_cast<float>(u.learning_rate)};
  WithGradient(u, [&](const auto* gradient, auto scale) {
    kernels::SgdUpdate(sgd, gradient, scale, u.size, u.weights, u.first_moment);
  });
}

}  // namespace

extern const OptimizerKind kSgdOptimizer;
const OptimizerKind kSgdOptimizer{.name = "sgd", .parameters = kParameters, .moments = 1, .update = Update};

}  // namespace rekindle::train
