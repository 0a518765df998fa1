// Steps by the sign of the momentum: kernels/lion.h. Wants a learning rate three to ten times below AdamW's and a
// weight decay as much above; both are so by default.
#include "kernels/lion.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/spec.h"

namespace rekindle::train {
namespace {

constexpr Parameter kParameters[] = {
    {.field = "learning_rate", .initial = 1e-4, .low = 0, .high = 100, .ends = Parameter::Ends::kLowOut},
    {.field = "beta1", .initial = 0.9, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
    {.field = "beta2", .initial = 0.99, .low = 0, .high = 1, .ends = Parameter::Ends::kHighOut},
    {.field = "weight_decay", .initial = 1, .low = 0, .high = 100},
};

void Update(const OptimizerUpdate& u) {
  const kernels::Lion lion{.decay = static_cast<float>(1 - u.learning_rate * u.weight_decay),
                           .rate1 = static_cast<float>(1 - u.spec.beta1),
                           .rate2 = static_cast<float>(1 - u.spec.beta2),
                           .step_size = static_cast<float>(u.learning_rate)};
  WithGradient(u, [&](const auto* gradient, auto scale) {
    kernels::LionUpdate(lion, gradient, scale, u.size, u.weights, u.first_moment);
  });
}

}  // namespace

extern const OptimizerKind kLionOptimizer;
const OptimizerKind kLionOptimizer{.name = "lion", .parameters = kParameters, .moments = 1, .update = Update};

}  // namespace rekindle::train
