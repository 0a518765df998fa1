// float32 rounded to 16 bits, ties to even, in integers: the same bits on CPU and GPU, whatever the denormal mode.
#ifndef REKINDLE_KERNELS_CUDA_HALF_BITS_H_
#define REKINDLE_KERNELS_CUDA_HALF_BITS_H_

#include <bit>
#include <cstdint>

#include "kernels/host_device.h"

namespace rekindle::cuda {

// bfloat16; a NaN stays a (quiet) NaN.
REKINDLE_HOST_DEVICE inline std::uint16_t Bf16Bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// IEEE half precision; what is too large becomes infinity, a NaN stays a (quiet) NaN.
REKINDLE_HOST_DEVICE inline std::uint16_t Fp16Bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
  if (magnitude >= 0x47800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // 2^16 and above.
  // The exponent's bias is changed in place; below 2^-14 the hidden bit shows and the fraction moves down.
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return static_cast<std::uint16_t>(sign);  // Below 2^-25.
  const bool normal = exponent >= 113;
  const std::uint32_t whole = normal ? magnitude - (112u << 23) : (magnitude & 0x7fffffu) | 0x800000u;
  const std::uint32_t shift = normal ? 13 : 126 - exponent;
  const std::uint32_t rest = whole & ((1u << shift) - 1), tie = 1u << (shift - 1);
  std::uint32_t half = whole >> shift;
  if (rest > tie || (rest == tie && (half & 1u) != 0)) ++half;  // A carry moves to the exponent, as it must.
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_HALF_BITS_H_
