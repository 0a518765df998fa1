#include "worker/train/step/buffers.h"

#include <cmath>

namespace rekindle::train {

void UpdateBuffers(device::Device& device, const ParameterLayout& layout, const GradientBuffer& sums, int micro_batches,
                   const TrainState& state) {
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    const ParameterInfo& info = layout.parameters[p];
    if (!info.is_buffer()) continue;
    const int32_t exponent = sums.exact() ? state.scalars.exponents[p] : 0;
    device.Run(device::Queue::kCompute,
               {.name = "buffer",
                .reads = {sums.Part(info.offset, info.size)},
                .writes = {state.weights.Part(info.offset, info.size)},
                .run = [&info, &sums, micro_batches, exponent](const device::Addresses& at) {
                  const GradientView view = sums.ViewAt(at.Read<void>(0), 0);
                  float* buffer = at.Write<float>(0);
                  for (int64_t i = 0; i < info.size; ++i) {
                    const double sum = view.fixed != nullptr ? std::ldexp(static_cast<double>(view.fixed[i]), -exponent)
                                                             : double{view.values[i]};
                    buffer[i] = static_cast<float>(buffer[i] + info.momentum * (sum / micro_batches - buffer[i]));
                  }
                  return absl::OkStatus();
                }});
  }
}

}  // namespace rekindle::train
