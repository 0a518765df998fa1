// Declares the functions of plane_split.h in each variant, for the choice and for tests. This is internal to kernels/.
#ifndef REKINDLE_KERNELS_PLANES_PLANE_VARIANTS_H_
#define REKINDLE_KERNELS_PLANES_PLANE_VARIANTS_H_

#include "kernels/planes/plane_split.h"

namespace rekindle::kernels {

inline void AddException(uint32_t index, uint32_t bits, PlaneExceptions& exceptions) {
  if (exceptions.count < exceptions.capacity) {
    exceptions.index[exceptions.count] = index;
    exceptions.bits[exceptions.count] = bits;
  }
  ++exceptions.count;
}

struct PlaneVariant {
  int64_t (*split_half)(const float*, int64_t, uint16_t*, int8_t*, int16_t*, uint32_t, PlaneExceptions*);
  void (*merge_half)(const uint16_t*, const int8_t*, const int16_t*, int64_t, float*);
  int64_t (*split_bf16)(const float*, int64_t, uint16_t*, uint16_t*);
  void (*merge_bf16)(const uint16_t*, const uint16_t*, int64_t, float*);
  void (*stream_copy)(void*, const void*, size_t);
};

// Returns the loops written out.
const PlaneVariant& PlainPlanes();
// Returns nullptr if the machine or the build has no AVX2 and F16C.
const PlaneVariant* Avx2Planes();

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_VARIANTS_H_
