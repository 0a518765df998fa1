#include "kernels/fixed_point.h"

#include <algorithm>
#include <cmath>

#include "kernels/fixed_point_convert.h"
#include "kernels/magnitude.h"

namespace rekindle::kernels {

REKINDLE_CLONES
float AccumulateFixed(const float* __restrict gradient, int64_t n, int exponent, bool first, int64_t* __restrict sum) {
  const double scale = std::ldexp(1.0, exponent);
  uint64_t* __restrict out = reinterpret_cast<uint64_t*>(sum);  // Unsigned: a meaningless sum wraps, defined.
  int32_t largest = 0;
  if (first) {
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, MagnitudeBits(gradient[i]));
      out[i] = RoundToFixed(static_cast<double>(gradient[i]) * scale);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, MagnitudeBits(gradient[i]));
      out[i] += RoundToFixed(static_cast<double>(gradient[i]) * scale);
    }
  }
  return MagnitudeFromBits(largest);
}

REKINDLE_CLONES
void FromFixed(const int64_t* __restrict sum, int64_t n, double scale, float* __restrict out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(FixedToDouble(sum[i]) * scale);
}

}  // namespace rekindle::kernels
