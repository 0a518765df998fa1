#include "kernels/sums/sum_of_squares.h"

#include "kernels/sums/fixed_point_convert.h"

namespace rekindle::kernels {
namespace {

constexpr int kLanes = 8;

REKINDLE_INLINE double ToDouble(float x) { return x; }
REKINDLE_INLINE double ToDouble(int64_t x) { return FixedToDouble(x); }

template <typename T>
REKINDLE_INLINE double Sum(const T* x, int64_t n) {
  double lanes[kLanes] = {};
  const int64_t whole = n - n % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) {
      const double value = ToDouble(x[i + j]);
      lanes[j] += value * value;
    }
  }
  for (int64_t i = whole; i < n; ++i) {
    const double value = ToDouble(x[i]);
    lanes[i - whole] += value * value;
  }
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

REKINDLE_CLONES double SumOfSquares(const float* x, int64_t n) { return Sum(x, n); }
REKINDLE_CLONES double SumOfSquares(const int64_t* x, int64_t n) { return Sum(x, n); }

}  // namespace rekindle::kernels
