// Compares magnitudes of floats as integers. The order of integers is total, so a maximum does not depend on the order
// of comparison, and it always shows a NaN. This is internal to kernels/.
#ifndef REKINDLE_KERNELS_SUMS_MAGNITUDE_H_
#define REKINDLE_KERNELS_SUMS_MAGNITUDE_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// Returns the bits of |x|. They are ordered like the magnitudes, with infinity and then NaN on top.
REKINDLE_INLINE int32_t MagnitudeBits(float x) { return std::bit_cast<int32_t>(x) & 0x7fffffff; }

// Returns the magnitude that has the given bits. The bits of infinity and of every NaN give +infinity.
REKINDLE_INLINE float MagnitudeFromBits(int32_t bits) {
  constexpr int32_t kInfinityBits = 0x7f800000;
  return std::bit_cast<float>(std::min(bits, kInfinityBits));
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_MAGNITUDE_H_
