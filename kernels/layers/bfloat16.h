// Converts arrays of FP32 to and from bfloat16 (kernels/vector/bfloat16_element.h), vectorised. The arrays must not
// overlap.
#ifndef REKINDLE_KERNELS_LAYERS_BFLOAT16_H_
#define REKINDLE_KERNELS_LAYERS_BFLOAT16_H_

#include <cstdint>

namespace rekindle::kernels {

// Converts float32 to bfloat16. It rounds to nearest, with ties to even, and a NaN stays a NaN.
void ToBfloat16(const float* x, int64_t n, uint16_t* out);
void FromBfloat16(const uint16_t* x, int64_t n, float* out);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_LAYERS_BFLOAT16_H_
