// Has the list of the elements that the planes of weights cannot restore alone (see plane_split.h).
#ifndef REKINDLE_KERNELS_PLANES_PLANE_EXCEPTIONS_H_
#define REKINDLE_KERNELS_PLANES_PLANE_EXCEPTIONS_H_

#include <cstdint>

namespace rekindle::kernels {

// Lists in order the elements whose residual does not fit 16 bits. It does not own its arrays.
struct PlaneExceptions {
  uint32_t* index = nullptr;
  // `bits` has the FP32 bit patterns of the listed elements.
  uint32_t* bits = nullptr;
  int64_t capacity = 0;
  // `count` counts all exceptions. Those beyond `capacity` are counted but not stored.
  int64_t count = 0;
};

// Appends an element to the list. This function is internal to kernels/.
inline void AddException(uint32_t index, uint32_t bits, PlaneExceptions& exceptions) {
  if (exceptions.count < exceptions.capacity) {
    exceptions.index[exceptions.count] = index;
    exceptions.bits[exceptions.count] = bits;
  }
  ++exceptions.count;
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_EXCEPTIONS_H_
