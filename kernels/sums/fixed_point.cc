#include "kernels/sums/fixed_point.h"

#include <algorithm>
#include <cmath>

#include "kernels/sums/fixed_point_convert.h"
#include "kernels/sums/magnitude.h"

namespace rekindle::kernels {

REKINDLE_CLONES
float AccumulateFixed(const float* __restrict gradient, int64_t n, int exponent, bool first, int64_t* __restrict sum) {
  const double scale = std::ldexp(1.0, exponent);
  // The fixed-point sum is unsigned, because C++ defines overflow only for unsigned integers, which wrap.
  uint64_t* __restrict out = reinterpret_cast<uint64_t*>(sum);
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

}  // namespace rekindle::kernels
