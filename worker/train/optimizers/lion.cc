// Implements Lion, which steps by the sign of the momentum (see kernels/optimizers/lion.h).
#include "kernels/optimizers/lion.h"
#include "worker/contract/spec.h"
#include "worker/train/optimizers/optimizer_update.h"

namespace rekindle::train {

void UpdateLion(const OptimizerUpdate& u) {
  const kernels::Lion lion{.decay = static_cast<float>(1 - u.learning_rate * u.weight_decay),
                           .rate1 = static_cast<float>(1 - u.spec.beta1),
                           .rate2 = static_cast<float>(1 - u.spec.beta2),
                           .step_size = static_cast<float>(u.learning_rate)};
  WithGradient(u, [&](const auto* gradient, auto scale) {
    kernels::LionUpdate(lion, gradient, scale, u.size, u.weights, u.first_moment);
  });
}

}  // namespace rekindle::train
