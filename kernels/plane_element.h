// One element cut into its 16-bit planes and put together again: the arithmetic that the plain loops, the AVX2 loops
// and the CUDA kernels share or must equal, in integers, so that no rounding or denormal mode can change a bit.
//
// BF16: hi = (x + 0x8000) >> 16, lo = x & 0xffff, both of the bit pattern, wrapping: a bijection on all patterns. `hi`
// alone is x rounded to bfloat16, ties away from zero; only a NaN whose payload ends above 0x7fff turns into a zero
// of the other sign, and one whose payload is below 0x8000 into an infinity.
//
// FP16: a block of kPlaneBlock elements has an exponent e; half = x / 2^e rounded to nearest even, ties to even. The
// residual is the difference of the bit patterns of x and of half * 2^e, where that fits 16 bits; elsewhere x is an
// exception and the residual is kPlaneException. The sign of x is always the sign of its half.
// Internal to kernels/.
#ifndef REKINDLE_KERNELS_PLANE_ELEMENT_H_
#define REKINDLE_KERNELS_PLANE_ELEMENT_H_

#include <cstdint>
#include <cstring>

#include "kernels/host_device.h"
#include "kernels/plane_limits.h"

namespace rekindle::kernels {

constexpr std::uint32_t kMagnitudeMask = 0x7fffffff;
constexpr std::uint32_t kInfinity32 = 0x7f800000;

REKINDLE_HOST_DEVICE inline std::uint32_t FloatBits(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}
REKINDLE_HOST_DEVICE inline float FloatFromBits(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

REKINDLE_HOST_DEVICE inline std::uint16_t Bf16High(std::uint32_t x) {
  return static_cast<std::uint16_t>((x + 0x8000u) >> 16);
}
REKINDLE_HOST_DEVICE inline std::uint16_t Bf16Low(std::uint32_t x) { return static_cast<std::uint16_t>(x); }
REKINDLE_HOST_DEVICE inline std::uint32_t Bf16Join(std::uint16_t high, std::uint16_t low) {
  return (static_cast<std::uint32_t>(high) << 16) + static_cast<std::uint32_t>(static_cast<std::int16_t>(low));
}

// For the block whose largest finite magnitude has these bits: that value is scaled to [2^14, 2^15), so that none
// rounds to infinity. From below, the exponent is bounded such that what is scaled up from a denormal rounds to zero
// and every half * 2^e is zero or normal.
REKINDLE_HOST_DEVICE inline int PlaneExponent(std::uint32_t largest) {
  const int exponent = static_cast<int>(largest >> 23) - 127 - 14;
  return exponent < kMinPlaneExponent ? kMinPlaneExponent : exponent;
}

// Precondition: a finite x is below 2^(15 + exponent).
REKINDLE_HOST_DEVICE inline std::uint16_t HalfFromFloat(std::uint32_t x, int exponent) {
  const std::uint32_t sign = x >> 16 & 0x8000u, magnitude = x & kMagnitudeMask, fraction = x & 0x7fffffu;
  std::uint32_t half = 0;
  if (magnitude >= kInfinity32) {
    half = 0x7c00u | (fraction == 0 ? 0 : 0x200u | fraction >> 13);  // A NaN becomes quiet and keeps its top bits.
  } else {
    const int scaled = static_cast<int>(magnitude >> 23) - 127 - exponent;
    const int shift = scaled >= -14 ? 13 : 13 - 14 - scaled;
    if (magnitude >= 0x800000u && shift <= 24) {
      const std::uint32_t whole = scaled >= -14 ? static_cast<std::uint32_t>(scaled + 15) << 23 | fraction  //
                                                : fraction | 0x800000u;
      half = whole >> shift;
      const std::uint32_t rest = whole & ((1u << shift) - 1), tie = 1u << (shift - 1);
      if (rest > tie || (rest == tie && (half & 1u) != 0)) ++half;  // A carry moves to the exponent, as it must.
    }
  }
  return static_cast<std::uint16_t>(sign | half);
}

// half * 2^exponent, for every half and an exponent within its limits; infinity where that is too large.
REKINDLE_HOST_DEVICE inline std::uint32_t FloatFromHalf(std::uint16_t half, int exponent) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16, fraction = half & 0x3ffu;
  const int field = half >> 10 & 31;
  if (field == 31) return sign | kInfinity32 | (fraction == 0 ? 0 : 0x400000u | fraction << 13);
  if (field == 0) {
    if (fraction == 0) return sign;
    // The conversion normalises; the sum multiplies by 2^(exponent - 24).
    return sign | (FloatBits(static_cast<float>(fraction)) + (static_cast<std::uint32_t>(exponent - 24) << 23));
  }
  const int wide = field - 15 + 127 + exponent;
  return wide >= 255 ? sign | kInfinity32 : sign | static_cast<std::uint32_t>(wide) << 23 | fraction << 13;
}

// x minus what its half gives, or kPlaneException.
REKINDLE_HOST_DEVICE inline std::int16_t PlaneResidual(std::uint32_t x, std::uint16_t half, int exponent) {
  const auto difference = static_cast<std::int32_t>(x - FloatFromHalf(half, exponent));
  return difference > 32767 || difference <= kPlaneException ? kPlaneException : static_cast<std::int16_t>(difference);
}
REKINDLE_HOST_DEVICE inline std::uint32_t HalfJoin(std::uint16_t half, int exponent, std::int16_t residual) {
  return FloatFromHalf(half, exponent) + static_cast<std::uint32_t>(static_cast<std::int32_t>(residual));
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANE_ELEMENT_H_
