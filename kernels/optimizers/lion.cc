#include "kernels/optimizers/lion.h"

#include "kernels/optimizers/lion_element.h"
#include "kernels/optimizers/update.h"
#include "kernels/sums/scaled_gradient.h"

namespace rekindle::kernels {
namespace {

template <typename Gradient, typename Scale>
REKINDLE_INLINE void Update(const Lion& lion, const Gradient* __restrict gradient, Scale scale, int64_t n,
                            float* __restrict weights, float* __restrict momentum) {
  // The factors are copied, because the compiler would otherwise assume that the stores to the arrays may change them.
  const Lion l = lion;
  for (int64_t i = 0; i < n; ++i) {
    const Element e = UpdateElement(l, Scaled(gradient[i], scale), {weights[i], momentum[i], 0});
    weights[i] = e.weight;
    momentum[i] = e.first;
  }
}

}  // namespace

Lion LionOf(const RekindleUpdate& u) {
  return {.decay = static_cast<float>(1 - u.learning_rate * u.weight_decay),
          .rate1 = static_cast<float>(1 - u.beta1),
          .rate2 = static_cast<float>(1 - u.beta2),
          .step_size = static_cast<float>(u.learning_rate)};
}

REKINDLE_CLONES
void LionUpdate(const Lion& lion, const float* gradient, float scale, int64_t n, float* weights, float* momentum) {
  Update(lion, gradient, scale, n, weights, momentum);
}

REKINDLE_CLONES
void LionUpdate(const Lion& lion, const int64_t* gradient, double scale, int64_t n, float* weights, float* momentum) {
  Update(lion, gradient, scale, n, weights, momentum);
}

void UpdateLion(const RekindleUpdate& u) {
  const Lion lion = LionOf(u);
  WithGradient(u, [&](const auto* gradient, auto scale) {
    LionUpdate(lion, gradient, scale, static_cast<int64_t>(u.n), u.new_weights, u.new_first_moment);
  });
}

}  // namespace rekindle::kernels
