#include "worker/train/step/buffers.h"

#include <cmath>

namespace rekindle::train {

void UpdateBuffers(const ParameterLayout& layout, const GradientView& sums, int micro_batches, TrainState* state) {
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    const ParameterInfo& info = layout.parameters[p];
    if (!info.is_buffer()) continue;
    float* buffer = state->weights.data() + info.offset;
    for (int64_t i = 0; i < info.size; ++i) {
      const int64_t at = info.offset + i;
      const double sum = sums.fixed != nullptr
                             ? std::ldexp(static_cast<double>(sums.fixed[at]), -state->scalars.exponents[p])
                             : double{sums.values[at]};
      buffer[i] = static_cast<float>(buffer[i] + info.momentum * (sum / micro_batches - buffer[i]));
    }
  }
}

}  // namespace rekindle::train
