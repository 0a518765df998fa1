// Rounds float32 to IEEE half precision, one element at a time, with ties to even and in integers. The bits are the
// same on CPU and GPU, whatever the denormal mode.
#ifndef REKINDLE_KERNELS_VECTOR_HALF_ELEMENT_H_
#define REKINDLE_KERNELS_VECTOR_HALF_ELEMENT_H_

#include <bit>
#include <cstdint>

#include "kernels/vector/device_function.h"

namespace rekindle::kernels {

// Returns the bits of x in IEEE half precision. A value that is too large becomes infinity, and a NaN stays a (quiet)
// NaN.
REKINDLE_HOST_DEVICE inline std::uint16_t ToFp16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
  // A magnitude of 2^16 or above becomes infinity.
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  // A normal half gets its exponent's new bias by subtraction. Below 2^-14 the half is denormal, so the hidden bit is
  // set and the fraction moves down.
  const std::uint32_t exponent = magnitude >> 23;
  // A magnitude below 2^-25 becomes zero.
  if (exponent < 102) return static_cast<std::uint16_t>(sign);
  const bool normal = exponent >= 113;
  const std::uint32_t whole = normal ? magnitude - (112u << 23) : (magnitude & 0x7fffffu) | 0x800000u;
  const std::uint32_t shift = normal ? 13 : 126 - exponent;
  const std::uint32_t rest = whole & ((1u << shift) - 1), tie = 1u << (shift - 1);
  std::uint32_t half = whole >> shift;
  // If rounding up carries out of the fraction, the carry raises the exponent, which is correct.
  if (rest > tie || (rest == tie && (half & 1u) != 0)) ++half;
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_VECTOR_HALF_ELEMENT_H_
