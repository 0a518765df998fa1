// Sums of squares in double, in a fixed order: eight interleaved partial sums, added in pairs at the end. The order
// is a function of n alone, so the result has the same bits on every instruction set. Pure and thread-safe.
#ifndef REKINDLE_KERNELS_SUM_OF_SQUARES_H_
#define REKINDLE_KERNELS_SUM_OF_SQUARES_H_

#include <cstdint>

namespace rekindle::kernels {

// Sum of double(x[i])^2. Not finite exactly when a value is not (n < 2^60).
double SumOfSquares(const float* x, int64_t n);
// The same for integers, each first rounded to double.
double SumOfSquares(const int64_t* x, int64_t n);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUM_OF_SQUARES_H_
