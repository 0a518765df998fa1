#include "worker/train/optimizer.h"

#include <algorithm>
#include <cmath>

#include "worker/train/gradient_norm.h"
#include "worker/train/levers/optimizer_kind.h"

namespace rekindle::train {

UpdateResult Update(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                    const OptimizerSpec& optimizer, double learning_rate, double clip_norm, TrainState* state) {
  const std::vector<int32_t>& exponents = state->scalars.exponents;
  const double tokens = static_cast<double>(count);
  const double squares = gradient.squares ? *gradient.squares : GradientSumOfSquares(layout, gradient, exponents);
  UpdateResult result;
  result.grad_norm = std::sqrt(squares) / tokens;
  result.found_inf = !std::isfinite(result.grad_norm);
  if (result.found_inf) return result;

  const double clip = clip_norm > 0 ? std::min(1.0, clip_norm / (result.grad_norm + 1e-6)) : 1.0;
  const double scale = clip / tokens;
  const OptimizerKind* kind = FindOptimizer(optimizer.kind);
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    const ParameterInfo& info = layout.parameters[p];
    if (info.is_buffer()) break;
    const bool fixed = gradient.fixed != nullptr;
    kind->update({.spec = optimizer,
                  .learning_rate = learning_rate,
                  .weight_decay = info.decay ? optimizer.weight_decay : 0,
                  .step = state->scalars.step + 1,
                  .fixed = fixed ? gradient.fixed + info.offset : nullptr,
                  .values = fixed ? nullptr : gradient.values + info.offset,
                  .scale = fixed ? std::ldexp(scale, -exponents[p]) : scale,
                  .size = info.size,
                  .shape = info.shape,
                  .weights = state->weights.data() + info.offset,
                  .first_moment = kind->moments >= 1 ? state->first_moment.data() + info.offset : nullptr,
                  .second_moment = kind->moments >= 2 ? state->second_moment.data() + info.offset : nullptr});
  }
  return result;
}

}  // namespace rekindle::train
