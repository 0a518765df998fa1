// Converts between double and int64 without branches, in a way that vectorises without AVX-512. This is internal to
// kernels/.
#ifndef REKINDLE_KERNELS_SUMS_FIXED_POINT_CONVERT_H_
#define REKINDLE_KERNELS_SUMS_FIXED_POINT_CONVERT_H_

#include <bit>
#include <cstdint>

#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// Returns rint(x), with ties to even. It is exact for |x| < 2^62. Anything else, NaN included, gives a meaningless
// number.
//
// Adding 1.5 * 2^52 to |y| < 2^51 leaves rint(y) in the low bits of the sum. One such step covers 51 bits only, so x is
// cut in two: `high` = rint(x / 2^26) and the rest |low| <= 2^25. Both the product with a power of two and the rest are
// exact, and high * 2^26 is even. So rint(x) = high * 2^26 + rint(low) with the right ties.
REKINDLE_INLINE uint64_t RoundToFixed(double x) {
  constexpr double kMagic = 0x1.8p52;
  constexpr uint64_t kMagicBits = 0x4338000000000000;
  const double high = x * 0x1p-26 + kMagic;
  const double low = x - (high - kMagic) * 0x1p26 + kMagic;
  return (std::bit_cast<uint64_t>(high) << 26) + std::bit_cast<uint64_t>(low) - ((kMagicBits << 26) + kMagicBits);
}

// Returns double(q), rounded to nearest even, for every q. The upper and lower 32 bits become the low bits of two
// doubles with unit 2^32 and 1. Removing their biases is exact, and the one addition rounds.
REKINDLE_INLINE double FixedToDouble(int64_t q) {
  const uint64_t bits = static_cast<uint64_t>(q);
  // `low` is 2^52 + the lower 32 bits of q.
  const double low = std::bit_cast<double>((bits & 0xffffffff) | 0x4330000000000000);
  // `high` is 2^84 + 2^63 + the upper 32 bits of q, as a signed integer times 2^32.
  const double high = std::bit_cast<double>((bits >> 32) ^ (0x4530000000000000 ^ 0x80000000ull));
  return (high - (0x1p84 + 0x1p63 + 0x1p52)) + low;
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_FIXED_POINT_CONVERT_H_
