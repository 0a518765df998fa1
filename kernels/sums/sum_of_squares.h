// Sums squares in double in a fixed order: eight interleaved partial sums are added in pairs at the end. The order is a
// function of n alone, so the result has the same bits on every instruction set. The functions are pure and
// thread-safe.
#ifndef REKINDLE_KERNELS_SUMS_SUM_OF_SQUARES_H_
#define REKINDLE_KERNELS_SUMS_SUM_OF_SQUARES_H_

#include <cstdint>

namespace rekindle::kernels {

// Returns the sum of double(x[i])^2. The sum is finite if and only if all values are finite (for n < 2^60).
double SumOfSquares(const float* x, int64_t n);
// Returns the sum of squares of integers, each of which is first rounded to double.
double SumOfSquares(const int64_t* x, int64_t n);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_SUM_OF_SQUARES_H_
