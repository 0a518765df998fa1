// Cuts FP32 arrays into 16-bit planes and merges them again. Plane 0 is usable alone. It is FP16 with a power-of-two
// exponent for each block of kPlaneBlock elements (weights), or BF16 (moments). Plane 1 restores FP32 bit for bit,
// whatever the pattern: NaN payloads, infinities, denormals, -0. plane_element.h has the arithmetic.
//
// All functions are pure and thread-safe. Arrays must not overlap and must have their type's alignment. Blocks begin at
// x[0], so a longer array may be cut at multiples of kPlaneBlock. AVX2 is used if the machine has it, with the same
// bits as the plain loops.
#ifndef REKINDLE_KERNELS_PLANES_PLANE_SPLIT_H_
#define REKINDLE_KERNELS_PLANES_PLANE_SPLIT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/planes/plane_exceptions.h"
#include "kernels/planes/plane_limits.h"

namespace rekindle::kernels {

// Splits x so that half[i] * 2^exponent[i / kPlaneBlock] is x[i] rounded. The exponent is that of the block's largest
// finite magnitude. If `residual` is not nullptr, it gets the residuals, and exceptions are appended with indices
// counted from `first_index`. If `residual` is nullptr, `exceptions` is not used. Returns how many elements are NaN or
// infinite. Their halves are NaN or infinite too.
int64_t SplitHalf(const float* x, int64_t n, uint16_t* half, int8_t* exponent, int16_t* residual, uint32_t first_index,
                  PlaneExceptions* exceptions);
// Merges the planes. With `residual` the result is exact except for the exceptions, whose bits the caller must put in
// place. If `residual` is nullptr, the result is rounded. REQUIRES: every exponent is in [kMinPlaneExponent,
// kMaxPlaneExponent].
void MergeHalf(const uint16_t* half, const int8_t* exponent, const int16_t* residual, int64_t n, float* x);
// Returns how many residuals mark their element as an exception.
int64_t CountExceptions(const int16_t* residual, int64_t n);

// Sets high[i] to x[i] in bfloat16. `low` may be nullptr. Returns how many elements are NaN or infinite.
int64_t SplitBf16(const float* x, int64_t n, uint16_t* high, uint16_t* low);
void MergeBf16(const uint16_t* high, const uint16_t* low, int64_t n, float* x);

// Copies like memcpy, but does not fetch the cache lines that it writes, nor leaves them in the cache. The caller must
// not let another thread or process read the copy before StreamFence, which is called once after many copies.
void StreamCopy(void* to, const void* from, size_t bytes);
void StreamFence();

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_SPLIT_H_
