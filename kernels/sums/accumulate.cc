#include "kernels/sums/accumulate.h"

#include <algorithm>

#include "kernels/sums/magnitude.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

REKINDLE_CLONES
float AccumulateFloat(const float* __restrict gradient, int64_t n, float factor, bool first, float* __restrict sum) {
  int32_t largest = 0;
  if (first) {
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, MagnitudeBits(gradient[i]));
      sum[i] = gradient[i] * factor;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, MagnitudeBits(gradient[i]));
      sum[i] += gradient[i] * factor;
    }
  }
  return MagnitudeFromBits(largest);
}

}  // namespace rekindle::kernels
