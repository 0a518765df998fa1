// Declares the functions of plane_split.h for each variant (plain loops, AVX2). The code that chooses a variant and the
// tests use them. This is internal to kernels/.
#ifndef REKINDLE_KERNELS_PLANES_PLANE_VARIANTS_H_
#define REKINDLE_KERNELS_PLANES_PLANE_VARIANTS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/planes/plane_exceptions.h"

namespace rekindle::kernels {

struct PlaneVariant {
  int64_t (*split_half)(const float*, int64_t, uint16_t*, int8_t*, int16_t*, uint32_t, PlaneExceptions*);
  void (*merge_half)(const uint16_t*, const int8_t*, const int16_t*, int64_t, float*);
  int64_t (*split_bf16)(const float*, int64_t, uint16_t*, uint16_t*);
  void (*merge_bf16)(const uint16_t*, const uint16_t*, int64_t, float*);
  void (*stream_copy)(void*, const void*, size_t);
};

// Returns the variant of plain loops.
const PlaneVariant& PlainPlanes();
// Returns the variant for AVX2 and F16C, or nullptr if the machine or the build lacks them.
const PlaneVariant* Avx2Planes();

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_VARIANTS_H_
