// Implements Adam with decoupled weight decay. The formulas are in kernels/optimizers/adamw.h.
#include "kernels/optimizers/adamw.h"
#include "worker/contract/spec.h"
#include "worker/train/optimizers/optimizer_update.h"

namespace rekindle::train {

void UpdateAdamw(const OptimizerUpdate& u) {
  const kernels::Adamw adamw =
      kernels::MakeAdamw(u.learning_rate, u.spec.beta1, u.spec.beta2, u.spec.epsilon, u.weight_decay, u.step);
  WithGradient(u, [&](const auto* gradient, auto scale) {
    kernels::AdamwUpdate(adamw, gradient, scale, u.size, u.weights, u.first_moment, u.second_moment);
  });
}

}  // namespace rekindle::train
