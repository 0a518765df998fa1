#include "kernels/optimizers/sgd.h"

#include "kernels/optimizers/sgd_element.h"
#include "kernels/optimizers/update.h"
#include "kernels/sums/scaled_gradient.h"

namespace rekindle::kernels {
namespace {

template <typename Gradient, typename Scale>
REKINDLE_INLINE void Update(const Sgd& sgd, const Gradient* __restrict gradient, Scale scale, int64_t n,
                            float* __restrict weights, float* __restrict velocity) {
  // The factors are copied, because the compiler would otherwise assume that the stores to the arrays may change them.
  const Sgd s = sgd;
  for (int64_t i = 0; i < n; ++i) {
    const Element e = UpdateElement(s, Scaled(gradient[i], scale), {weights[i], velocity[i], 0});
    weights[i] = e.weight;
    velocity[i] = e.first;
  }
}

}  // namespace

Sgd SgdOf(const RekindleUpdate& u) {
  return {.weight_decay = static_cast<float>(u.weight_decay),
          .momentum = static_cast<float>(u.momentum),
          .step_size = static_cast<float>(u.learning_rate)};
}

REKINDLE_CLONES
void SgdUpdate(const Sgd& sgd, const float* gradient, float scale, int64_t n, float* weights, float* velocity) {
  Update(sgd, gradient, scale, n, weights, velocity);
}

REKINDLE_CLONES
void SgdUpdate(const Sgd& sgd, const int64_t* gradient, double scale, int64_t n, float* weights, float* velocity) {
  Update(sgd, gradient, scale, n, weights, velocity);
}

void UpdateSgd(const RekindleUpdate& u) {
  const Sgd sgd = SgdOf(u);
  WithGradient(u, [&](const auto* gradient, auto scale) {
    SgdUpdate(sgd, gradient, scale, static_cast<int64_t>(u.n), u.new_weights, u.new_first_moment);
  });
}

}  // namespace rekindle::kernels
