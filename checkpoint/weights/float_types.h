// Converts the float types of a safetensors file to and from FP32, one element at a time. Values are rounded to
// nearest, ties to even.
#ifndef REKINDLE_CHECKPOINT_WEIGHTS_FLOAT_TYPES_H_
#define REKINDLE_CHECKPOINT_WEIGHTS_FLOAT_TYPES_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/vector/bfloat16_element.h"

namespace rekindle::checkpoint {

enum class FloatType { kF32, kF16, kBf16, kF64 };

inline float FromHalf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  // FP16's zero and denormals are fraction * 2^-24, which FP32 can hold.
  if (exponent == 0) {
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  const uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

// Converts FP32 to FP16. Values beyond 65504 become infinite if they do not round down to it.
inline uint16_t ToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  // Magnitudes of 65520 and above become infinite in FP16.
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  // Below 2^-14 the FP16 value is a multiple of 2^-24. Adding 0.5 rounds to such a multiple, because 2^-24 is the
  // distance of the FP32 values from 0.5 to 1.
  if (magnitude < 0x38800000) {
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(scaled) - 0x3f000000);
  }
  const uint32_t rounded = magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>(rounded >> 13);
}

using common::FromBf16;
using common::ToBf16;

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_WEIGHTS_FLOAT_TYPES_H_
