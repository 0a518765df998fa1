#include "worker/train/step/buffers.h"

#include <cmath>

namespace rekindle::train {

void UpdateBuffers(device::Device& device, const ParameterLayout& layout, const GradientBuffer& sums, int micro_batches,
                   const TrainState& state) {
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    const ParameterInfo& info = layout.parameters[p];
    if (!info.is_buffer() || info.rule == BufferRule::kFrozen) continue;
    // Only one micro-batch has delivered the statistic of a buffer that follows the first one.
    const int deliveries = info.rule == BufferRule::kFirst ? 1 : micro_batches;
    const int32_t exponent = sums.exact() ? state.scalars.exponents[p] : 0;
    device.Run(device::Queue::kCompute,
               {.name = "buffer",
                .reads = {sums.Part(info.offset, info.size)},
                .writes = {state.weights.Part(info.offset, info.size)},
                .launch = [&info, &sums, deliveries, exponent](const device::Addresses& at, const device::Launch& on) {
                  const GradientView view = sums.ViewAt(at.Read<void>(0), 0);
                  return on(&RekindleKernels::running_mean, {.values = view.values,
                                                             .fixed = view.fixed,
                                                             .unit = std::ldexp(1.0, -exponent),
                                                             .n = static_cast<size_t>(info.size),
                                                             .count = static_cast<double>(deliveries),
                                                             .rate = info.momentum,
                                                             .mean = at.Write<float>(0)});
                }});
  }
}

}  // namespace rekindle::train
