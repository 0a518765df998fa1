// Computes one lane of vector_math.h and gelu.cc, as a CUDA thread does. The operations and their order are the same as
// in these files, and so are the bits, which cuda/arithmetic_test.cc tests.
#ifndef REKINDLE_KERNELS_VECTOR_SCALAR_MATH_H_
#define REKINDLE_KERNELS_VECTOR_SCALAR_MATH_H_

#include <bit>
#include <cstdint>

#include "kernels/vector/device_function.h"

namespace rekindle::kernels::scalar {

// Returns x limited to [least, most]. NaN becomes `least`.
REKINDLE_HOST_DEVICE inline float Clamp(float x, float least, float most) {
  x = x > least ? x : least;
  return x < most ? x : most;
}

// Returns e^x for x in [-87, 88], with a relative error below 3e-7. Arguments outside, NaN too, are limited to that
// range.
REKINDLE_HOST_DEVICE inline float Exp(float x) {
  // `kRound` is 1.5 * 2^23. Adding it to a float rounds that to an integer.
  constexpr float kRound = 12582912.0f;
  constexpr float kLn2High = 0.693145751953125f, kLn2Low = 1.42860677e-6f;
  x = Clamp(x, -87.0f, 88.0f);
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = x - n * kLn2High - n * kLn2Low;
  float p = r * (1.0f / 5040) + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3F800000u);
}

struct ValueAndSlope {
  float value, slope;
};

// Computes one element of kernels/layers/gelu.h.
REKINDLE_HOST_DEVICE inline ValueAndSlope Gelu(float x) {
  // `kScale` is 2 sqrt(2 / pi), a factor in the exponent of GELU's formula.
  constexpr float kScale = 1.5957691216f;
  constexpr float kCubic = 0.044715f;
  const float v = Clamp(x, -20.0f, 20.0f);
  const float vv = v * v;
  const float s = 1.0f / (1.0f + Exp(-kScale * v * (1.0f + kCubic * vv)));
  return {x * s, s + v * s * (1.0f - s) * kScale * (1.0f + 3 * kCubic * vv)};
}

}  // namespace rekindle::kernels::scalar

#endif  // REKINDLE_KERNELS_VECTOR_SCALAR_MATH_H_
