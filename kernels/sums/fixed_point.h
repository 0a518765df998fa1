// Sums float32 as int64 fixed point, which is the arithmetic behind exact reduction: q = rint(g * 2^exponent), with
// ties to even. Integer addition is associative, so the grouping of micro-batches into ranks cannot change a sum.
//
// The function is pure and thread-safe. Arrays must not overlap, and no alignment is needed.
#ifndef REKINDLE_KERNELS_SUMS_FIXED_POINT_H_
#define REKINDLE_KERNELS_SUMS_FIXED_POINT_H_

#include <cstdint>

namespace rekindle::kernels {

// Sets sum[i] += rint(gradient[i] * 2^exponent). With `first` it sets sum[i] = rint(...), whatever sum[i] held. Returns
// max |gradient[i]|, or +infinity if a value is NaN or infinite, or 0 if n is 0. The sums are exact while |gradient[i]
// * 2^exponent| < 2^62 for all i and the sums fit int64. Otherwise the sums are meaningless, but never undefined
// behaviour. The caller finds that out from the maximum and discards them. REQUIRES: |exponent| <= 500.
float AccumulateFixed(const float* gradient, int64_t n, int exponent, bool first, int64_t* sum);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_FIXED_POINT_H_
