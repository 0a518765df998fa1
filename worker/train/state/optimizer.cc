#include "worker/train/state/optimizer.h"

#include <algorithm>
#include <cmath>

#include "worker/train/arithmetic/gradient_norm.h"
#include "worker/train/optimizers/optimizer_update.h"

namespace rekindle::train {

PlannedUpdate PlanUpdate(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                         const OptimizerSpec& optimizer, double learning_rate, double clip_norm,
                         const StateScalars& scalars) {
  const double tokens = static_cast<double>(count);
  const double squares =
      gradient.squares ? *gradient.squares : GradientSumOfSquares(layout, gradient, scalars.exponents);
  PlannedUpdate update{.optimizer = optimizer,
                       .learning_rate = learning_rate,
                       .step = scalars.step + 1,
                       .gradient = gradient,
                       .exponents = scalars.exponents};
  update.result.grad_norm = std::sqrt(squares) / tokens;
  update.result.found_inf = !std::isfinite(update.result.grad_norm);
  const double clip = clip_norm > 0 ? std::min(1.0, clip_norm / (update.result.grad_norm + 1e-6)) : 1.0;
  update.scale = clip / tokens;
  return update;
}

FlatState FlatStateOf(TrainState& state) {
  return {.weights = state.weights.data(),
          .first_moment = state.moments >= 1 ? state.first_moment.data() : nullptr,
          .second_moment = state.moments >= 2 ? state.second_moment.data() : nullptr};
}

void UpdateElements(const ParameterLayout& layout, const PlannedUpdate& update, int64_t begin, int64_t end,
                    const FlatState& state) {
  const bool fixed = update.gradient.fixed != nullptr;
  const auto at = [&](float* memory, int64_t element) {
    return memory == nullptr ? nullptr : memory + (element - state.origin);
  };
  auto next = std::upper_bound(layout.parameters.begin(), layout.parameters.end(), begin,
                               [](int64_t element, const ParameterInfo& info) { return element < info.offset; });
  for (auto info = next == layout.parameters.begin() ? next : next - 1;
       info != layout.parameters.end() && info->offset < end && !info->is_buffer(); ++info) {
    const int64_t from = std::max(begin, info->offset), to = std::min(end, info->offset + info->size);
    if (from >= to) continue;
    const auto parameter = static_cast<size_t>(info - layout.parameters.begin());
    UpdateParameter({.spec = update.optimizer,
                     .learning_rate = update.learning_rate,
                     .weight_decay = info->decay ? update.optimizer.weight_decay : 0,
                     .step = update.step,
                     .fixed = fixed ? update.gradient.fixed + from : nullptr,
                     .values = fixed ? nullptr : update.gradient.values + from,
                     .scale = fixed ? std::ldexp(update.scale, -update.exponents[parameter]) : update.scale,
                     .size = to - from,
                     .shape = info->shape,
                     .weights = at(state.weights, from),
                     .first_moment = at(state.first_moment, from),
                     .second_moment = at(state.second_moment, from)});
  }
}

UpdateResult Update(const ParameterLayout& layout, const GradientView& gradient, int64_t count,
                    const OptimizerSpec& optimizer, double learning_rate, double clip_norm, TrainState* state) {
  const PlannedUpdate update = PlanUpdate(layout, gradient, count, optimizer, learning_rate, clip_norm, state->scalars);
  if (!update.result.found_inf) UpdateElements(layout, update, 0, layout.total, FlatStateOf(*state));
  return update.result;
}

}  // namespace rekindle::train
