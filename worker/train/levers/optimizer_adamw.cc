// Adam with decoupled weight decay: kernels/adamw.h.
#include "kernels/adamw.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {
    {.field = "learning_rate", .initial = 1e-3, .low = 0, .high = 100, .ends = Parameter::Ends::kLowOut},
    {.field = "beta1", .initial = 0.9, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
    {.field = "beta2", .initial = 0.95, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
    {.field = "epsilon", .initial = 1e-8, .low = 0, .high = 1, .ends = Parameter::Ends::kLowOut},
    {.field = "weight_decay", .initial = 0.1, .low = 0, .high = 100},
};

void Update(const OptimizerUpdate& u) {
  const kernels::Adamw adamw =
      kernels::MakeAdamw(u.learning_rate, u.spec.beta1, u.spec.beta2, u.spec.epsilon, u.weight_decay, u.step);
  WithGradient(u, [&](const auto* gradient, auto scale) {
    kernels::AdamwUpdate(adamw, gradient, scale, u.size, u.weights, u.first_moment, u.second_moment);
  });
}

}  // namespace

extern const OptimizerKind kAdamwOptimizer;
const OptimizerKind kAdamwOptimizer{.name = "adamw", .parameters = kParameters, .moments = 2, .update = Update};

}  // namespace rekindle::train
