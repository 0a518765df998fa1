// Sum of gradients in float32. Pure, thread-safe; arrays do not overlap.
#ifndef REKINDLE_KERNELS_ACCUMULATE_H_
#define REKINDLE_KERNELS_ACCUMULATE_H_

#include <cstdint>

namespace rekindle::kernels {

// sum[i] += gradient[i] * factor; with `first`, sum[i] = gradient[i] * factor, whatever it held.
// Returns max |gradient[i]|, or +infinity when a value is NaN or infinite; 0 for n = 0.
float AccumulateFloat(const float* gradient, int64_t n, float factor, bool first, float* sum);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_ACCUMULATE_H_
