#include "kernels/optimizers/lion.h"

#include "kernels/sums/scaled_gradient.h"

namespace rekindle::kernels {
namespace {

template <typename Gradient, typename Scale>
REKINDLE_INLINE void Update(const Lion& lion, const Gradient* __restrict gradient, Scale scale, int64_t n,
                            float* __restrict weights, float* __restrict momentum) {
  // The factors are copied, because the compiler would otherwise assume that the stores to the arrays may change them.
  const Lion l = lion;
  for (int64_t i = 0; i < n; ++i) {
    const float difference = Scaled(gradient[i], scale) - momentum[i];
    const float direction = momentum[i] + difference * l.rate1;
    const float up = direction > 0 ? l.step_size : 0;
    const float down = direction < 0 ? l.step_size : 0;
    weights[i] = weights[i] * l.decay - (up - down);
    momentum[i] = momentum[i] + difference * l.rate2;
  }
}

}  // namespace

REKINDLE_CLONES
void LionUpdate(const Lion& lion, const float* gradient, float scale, int64_t n, float* weights, float* momentum) {
  Update(lion, gradient, scale, n, weights, momentum);
}

REKINDLE_CLONES
void LionUpdate(const Lion& lion, const int64_t* gradient, double scale, int64_t n, float* weights, float* momentum) {
  Update(lion, gradient, scale, n, weights, momentum);
}

}  // namespace rekindle::kernels
