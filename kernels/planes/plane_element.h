// Cuts one element into its 16-bit planes and puts it together again. The plain loops, the AVX2 loops and the CUDA
// kernels share this arithmetic or must equal it. It works in integers, so that no rounding or denormal mode can change
// a bit.
//
// BF16 planes are hi = (x + 0x8000) >> 16 and lo = x & 0xffff, both of the bit pattern and wrapping. This is a
// bijection on all patterns. `hi` alone is x rounded to bfloat16, with ties away from zero. Only a NaN whose payload
// ends above 0x7fff turns into a zero of the other sign, and one whose payload is below 0x8000 into an infinity.
//
// FP16 planes have one exponent e for each block of kPlaneBlock elements, and half = x / 2^e is rounded to nearest,
// with ties to even. The residual is the difference of the bit patterns of x and of half * 2^e, if that fits 16 bits.
// Otherwise x is an exception and the residual is kPlaneException. The sign of x is always the sign of its half. This
// is internal to kernels/.
#ifndef REKINDLE_KERNELS_PLANES_PLANE_ELEMENT_H_
#define REKINDLE_KERNELS_PLANES_PLANE_ELEMENT_H_

#include <cstdint>
#include <cstring>

#include "kernels/planes/plane_limits.h"
#include "kernels/vector/device_function.h"

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

// Returns the exponent of a block. `largest` has the bits of the largest finite magnitude in it, which the exponent
// scales to [2^14, 2^15), so that no element rounds to infinity. The exponent has a lower bound, with which a denormal
// that is scaled up rounds to zero and every half * 2^e is zero or normal.
REKINDLE_HOST_DEVICE inline int PlaneExponent(std::uint32_t largest) {
  const int exponent = static_cast<int>(largest >> 23) - 127 - 14;
  return exponent < kMinPlaneExponent ? kMinPlaneExponent : exponent;
}

// Returns the half of x, which is x / 2^exponent in FP16. REQUIRES: a finite x is below 2^(15 + exponent).
REKINDLE_HOST_DEVICE inline std::uint16_t HalfFromFloat(std::uint32_t x, int exponent) {
  const std::uint32_t sign = x >> 16 & 0x8000u, magnitude = x & kMagnitudeMask, fraction = x & 0x7fffffu;
  std::uint32_t half = 0;
  if (magnitude >= kInfinity32) {
    // A NaN becomes quiet and keeps its top bits.
    half = 0x7c00u | (fraction == 0 ? 0 : 0x200u | fraction >> 13);
  } else {
    const int scaled = static_cast<int>(magnitude >> 23) - 127 - exponent;
    const int shift = scaled >= -14 ? 13 : 13 - 14 - scaled;
    if (magnitude >= 0x800000u && shift <= 24) {
      const std::uint32_t whole = scaled >= -14 ? static_cast<std::uint32_t>(scaled + 15) << 23 | fraction  //
                                                : fraction | 0x800000u;
      half = whole >> shift;
      const std::uint32_t rest = whole & ((1u << shift) - 1), tie = 1u << (shift - 1);
      // If rounding up carries out of the fraction, the carry raises the exponent, which is correct.
      if (rest > tie || (rest == tie && (half & 1u) != 0)) ++half;
    }
  }
  return static_cast<std::uint16_t>(sign | half);
}

// Returns half * 2^exponent, for every half and every exponent from kMinPlaneExponent to kMaxPlaneExponent. The result
// is infinity if it is too large.
REKINDLE_HOST_DEVICE inline std::uint32_t FloatFromHalf(std::uint16_t half, int exponent) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16, fraction = half & 0x3ffu;
  const int field = half >> 10 & 31;
  if (field == 31) return sign | kInfinity32 | (fraction == 0 ? 0 : 0x400000u | fraction << 13);
  if (field == 0) {
    if (fraction == 0) return sign;
    // The conversion to float normalises the fraction, and the addition to the bits multiplies by 2^(exponent - 24).
    return sign | (FloatBits(static_cast<float>(fraction)) + (static_cast<std::uint32_t>(exponent - 24) << 23));
  }
  const int wide = field - 15 + 127 + exponent;
  return wide >= 255 ? sign | kInfinity32 : sign | static_cast<std::uint32_t>(wide) << 23 | fraction << 13;
}

// Returns the residual of an element, which is the bits of x minus the bits of half * 2^exponent. Returns
// kPlaneException if that does not fit.
REKINDLE_HOST_DEVICE inline std::int16_t PlaneResidual(std::uint32_t x, std::uint16_t half, int exponent) {
  const auto difference = static_cast<std::int32_t>(x - FloatFromHalf(half, exponent));
  return difference > 32767 || difference <= kPlaneException ? kPlaneException : static_cast<std::int16_t>(difference);
}
REKINDLE_HOST_DEVICE inline std::uint32_t HalfJoin(std::uint16_t half, int exponent, std::int16_t residual) {
  return FloatFromHalf(half, exponent) + static_cast<std::uint32_t>(static_cast<std::int32_t>(residual));
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_ELEMENT_H_
