// Sums gradients in float32. The function is pure and thread-safe, and arrays must not overlap.
#ifndef REKINDLE_KERNELS_SUMS_ACCUMULATE_H_
#define REKINDLE_KERNELS_SUMS_ACCUMULATE_H_

#include <cstdint>

namespace rekindle::kernels {

// Sets sum[i] += gradient[i] * factor. With `first` it sets sum[i] = gradient[i] * factor, whatever sum[i] held.
// Returns max |gradient[i]|, or +infinity if a value is NaN or infinite, or 0 if n is 0.
float AccumulateFloat(const float* gradient, int64_t n, float factor, bool first, float* sum);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_ACCUMULATE_H_
