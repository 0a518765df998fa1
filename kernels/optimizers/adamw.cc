#include "kernels/optimizers/adamw.h"

#include <cmath>

#include "kernels/optimizers/adamw_element.h"
#include "kernels/optimizers/update.h"
#include "kernels/sums/scaled_gradient.h"

namespace rekindle::kernels {
namespace {

double Power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base) {
    if (exponent & 1) result *= base;
  }
  return result;
}

template <typename Gradient, typename Scale>
REKINDLE_INLINE void Update(const Adamw& adamw, const Gradient* __restrict gradient, Scale scale, int64_t n,
                            float* __restrict weights, float* __restrict first, float* __restrict second) {
  // The factors are copied, because the compiler would otherwise assume that the stores to the arrays may change them.
  const Adamw a = adamw;
  for (int64_t i = 0; i < n; ++i) {
    const Element e = UpdateElement(a, Scaled(gradient[i], scale), {weights[i], first[i], second[i]});
    first[i] = e.first;
    second[i] = e.second;
    weights[i] = e.weight;
  }
}

}  // namespace

Adamw MakeAdamw(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay, int64_t step) {
  return {.decay = static_cast<float>(1 - learning_rate * weight_decay),
          .rate1 = static_cast<float>(1 - beta1),
          .beta2 = static_cast<float>(beta2),
          .rate2 = static_cast<float>(1 - beta2),
          .correction2 = static_cast<float>(1 / std::sqrt(1 - Power(beta2, step))),
          .epsilon = static_cast<float>(epsilon),
          .step_size = static_cast<float>(learning_rate / (1 - Power(beta1, step)))};
}

Adamw AdamwOf(const RekindleUpdate& u) {
  return MakeAdamw(u.learning_rate, u.beta1, u.beta2, u.epsilon, u.weight_decay, u.step);
}

REKINDLE_CLONES
void AdamwUpdate(const Adamw& adamw, const float* gradient, float scale, int64_t n, float* weights, float* first_moment,
                 float* second_moment) {
  Update(adamw, gradient, scale, n, weights, first_moment, second_moment);
}

REKINDLE_CLONES
void AdamwUpdate(const Adamw& adamw, const int64_t* gradient, double scale, int64_t n, float* weights,
                 float* first_moment, float* second_moment) {
  Update(adamw, gradient, scale, n, weights, first_moment, second_moment);
}

void UpdateAdamw(const RekindleUpdate& u) {
  const Adamw adamw = AdamwOf(u);
  WithGradient(u, [&](const auto* gradient, auto scale) {
    AdamwUpdate(adamw, gradient, scale, static_cast<int64_t>(u.n), u.new_weights, u.new_first_moment,
                u.new_second_moment);
  });
}

}  // namespace rekindle::kernels
