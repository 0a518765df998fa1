#include "kernels/optimizers/sgd.h"

#include "kernels/sums/scaled_gradient.h"

namespace rekindle::kernels {
namespace {

template <typename Gradient, typename Scale>
REKINDLE_INLINE void Update(const Sgd& sgd, const Gradient* __restrict gradient, Scale scale, int64_t n,
                            float* __restrict weights, float* __restrict velocity) {
  // The factors are copied, because the compiler would otherwise assume that the stores to the arrays may change them.
  const Sgd s = sgd;
  for (int64_t i = 0; i < n; ++i) {
    const float g = Scaled(gradient[i], scale) + weights[i] * s.weight_decay;
    const float v = velocity[i] * s.momentum + g;
    velocity[i] = v;
    weights[i] = weights[i] - v * s.step_size;
  }
}

}  // namespace

REKINDLE_CLONES
void SgdUpdate(const Sgd& sgd, const float* gradient, float scale, int64_t n, float* weights, float* velocity) {
  Update(sgd, gradient, scale, n, weights, velocity);
}

REKINDLE_CLONES
void SgdUpdate(const Sgd& sgd, const int64_t* gradient, double scale, int64_t n, float* weights, float* velocity) {
  Update(sgd, gradient, scale, n, weights, velocity);
}

}  // namespace rekindle::kernels
