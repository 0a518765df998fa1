#include "worker/train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "kernels/adamw.h"
#include "worker/train/gradient_norm.h"

namespace rekindle::train {

UpdateResult Update(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                    const OptimizerSpec& optimizer, double learning_rate, double clip_norm, TrainState* state) {
  const std::vector<int32_t>& exponents = state->scalars.exponents;
  const double tokens = static_cast<double>(count);
  UpdateResult result;
  result.grad_norm = std::sqrt(GradientSumOfSquares(layout, gradient, exponents)) / tokens;
  result.found_inf = !std::isfinite(result.grad_norm);
  if (result.found_inf) return result;

  const double clip = clip_norm > 0 ? std::min(1.0, clip_norm / (result.grad_norm + 1e-6)) : 1.0;
  const double scale = clip / tokens;
  const auto adamw = [&](double weight_decay) {
    return kernels::MakeAdamw(learning_rate, optimizer.beta1, optimizer.beta2, optimizer.epsilon, weight_decay,
                              state->scalars.step + 1);
  };
  const kernels::Adamw with_decay = adamw(optimizer.weight_decay);
  const kernels::Adamw without_decay = adamw(0);
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    const ParameterInfo& info = layout.parameters[p];
    if (info.is_buffer()) break;
    const kernels::Adamw& constants = info.decay ? with_decay : without_decay;
    float* weights = state->weights.data() + info.offset;
    float* first = state->first_moment.data() + info.offset;
    float* second = state->second_moment.data() + info.offset;
    if (gradient.fixed != nullptr) {
      kernels::AdamwUpdate(constants, gradient.fixed + info.offset, std::ldexp(scale, -exponents[p]), info.size,
                           weights, first, second);
    } else {
      kernels::AdamwUpdate(constants, gradient.values + info.offset, static_cast<float>(scale), info.size, weights,
                           first, second);
    }
  }
  return result;
}

}  // namespace rekindle::train
