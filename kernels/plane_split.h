// FP32 arrays cut into 16-bit planes and merged again. Plane 0 is usable alone: FP16 with a power-of-two exponent for
// each block of kPlaneBlock elements (weights), or BF16 (moments). Plane 1 restores FP32 bit for bit, whatever the
// pattern: NaN payloads, infinities, denormals, -0. plane_element.h has the arithmetic.
//
// Pure and thread-safe; arrays do not overlap and have their type's alignment. Blocks begin at x[0]: a longer array may
// be cut at multiples of kPlaneBlock. AVX2 where the machine has it: the same bits as the plain loops.
#ifndef REKINDLE_KERNELS_PLANE_SPLIT_H_
#define REKINDLE_KERNELS_PLANE_SPLIT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/plane_limits.h"

namespace rekindle::kernels {

// Elements whose residual does not fit 16 bits, in order. Not owned.
struct PlaneExceptions {
  uint32_t* index = nullptr;
  uint32_t* bits = nullptr;  // Of the element.
  int64_t capacity = 0;
  int64_t count = 0;  // All that were met; those beyond `capacity` are counted and not stored.
};

// half[i] * 2^exponent[i / kPlaneBlock] is x[i] rounded; the exponent is that of the block's largest finite magnitude.
// With `residual` also what is missing; exceptions are appended, their indices counted from `first_index`. Without it
// (nullptr), `exceptions` is not used. Returns how many are NaN or infinite: their halves are so, too.
int64_t SplitHalf(const float* x, int64_t n, uint16_t* half, int8_t* exponent, int16_t* residual, uint32_t first_index,
                  PlaneExceptions* exceptions);
// With `residual` exact but for the exceptions, whose bits the caller puts in place; without it (nullptr) rounded.
// Precondition: every exponent is in [kMinPlaneExponent, kMaxPlaneExponent].
void MergeHalf(const uint16_t* half, const int8_t* exponent, const int16_t* residual, int64_t n, float* x);
// Residuals that say that their element is an exception.
int64_t CountExceptions(const int16_t* residual, int64_t n);

// high[i] is x[i] in bfloat16; `low` may be nullptr. Returns how many are NaN or infinite.
int64_t SplitBf16(const float* x, int64_t n, uint16_t* high, uint16_t* low);
void MergeBf16(const uint16_t* high, const uint16_t* low, int64_t n, float* x);

// memcpy that does not fetch the lines it writes, nor leave them in the cache. Another thread or process may be told
// of the copy only after StreamFence, which is called once after many copies.
void StreamCopy(void* to, const void* from, size_t bytes);
void StreamFence();

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANE_SPLIT_H_
