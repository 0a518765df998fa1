// Arrays of FP32 to and from bfloat16 (common/bfloat16.h), vectorised. No overlaps.
#ifndef REKINDLE_KERNELS_BFLOAT16_H_
#define REKINDLE_KERNELS_BFLOAT16_H_

#include <cstdint>

namespace rekindle::kernels {

// Rounded to nearest, ties to even; a NaN stays one.
void ToBfloat16(const float* x, int64_t n, uint16_t* out);
void FromBfloat16(const uint16_t* x, int64_t n, float* out);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_BFLOAT16_H_
