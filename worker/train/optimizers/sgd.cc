// Implements stochastic gradient descent with momentum (see kernels/optimizers/sgd.h). Weight decay is part of the
// gradient, as in torch.optim.SGD.
#include "kernels/optimizers/sgd.h"
#include "worker/contract/spec.h"
#include "worker/train/optimizers/optimizer_update.h"

namespace rekindle::train {

void UpdateSgd(const OptimizerUpdate& u) {
  const kernels::Sgd sgd{.weight_decay = static_cast<float>(u.weight_decay),
                         .momentum = static_cast<float>(u.spec.momentum),
                         .step_size = static_cast<float>(u.learning_rate)};
  WithGradient(u, [&](const auto* gradient, auto scale) {
    kernels::SgdUpdate(sgd, gradient, scale, u.size, u.weights, u.first_moment);
  });
}

}  // namespace rekindle::train
