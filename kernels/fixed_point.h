// Conversion between float32 and int64 fixed point: the arithmetic behind exact reduction. q = rint(g * 2^exponent),
// ties to even. Integer addition is associative, so the grouping of micro-batches into ranks cannot change a sum.
//
// All functions are pure and thread-safe; arrays do not overlap; no alignment is needed.
#ifndef REKINDLE_KERNELS_FIXED_POINT_H_
#define REKINDLE_KERNELS_FIXED_POINT_H_

#include <cstdint>

namespace rekindle::kernels {

// sum[i] += rint(gradient[i] * 2^exponent); with `first`, sum[i] = rint(...), whatever it held.
// Returns max |gradient[i]|, or +infinity when a value is NaN or infinite; 0 for n = 0.
// Exact while |gradient[i] * 2^exponent| < 2^62 for all i and the sums fit int64. Otherwise the sums are
// meaningless (never undefined behaviour): the caller finds that out from the maximum and discards them.
// Precondition: |exponent| <= 500.
float AccumulateFixed(const float* gradient, int64_t n, int exponent, bool first, int64_t* sum);

// out[i] = float(double(sum[i]) * scale), each conversion rounded to nearest even.
void FromFixed(const int64_t* sum, int64_t n, double scale, float* out);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_FIXED_POINT_H_
