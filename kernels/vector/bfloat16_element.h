// Converts FP32 to and from bfloat16, one element at a time. It rounds to nearest, with ties to even, and a NaN stays a
// NaN.
#ifndef REKINDLE_KERNELS_VECTOR_BFLOAT16_ELEMENT_H_
#define REKINDLE_KERNELS_VECTOR_BFLOAT16_ELEMENT_H_

#include <bit>
#include <cstdint>

#include "kernels/vector/device_function.h"

namespace rekindle::common {

REKINDLE_HOST_DEVICE inline float FromBf16(uint16_t high) {
  return std::bit_cast<float>(static_cast<uint32_t>(high) << 16);
}

// The conversion has no branch, so that loops over it become vectors.
REKINDLE_HOST_DEVICE inline uint16_t ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

}  // namespace rekindle::common

#endif  // REKINDLE_KERNELS_VECTOR_BFLOAT16_ELEMENT_H_
