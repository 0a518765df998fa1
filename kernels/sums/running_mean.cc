#include "kernels/sums/running_mean.h"

#include "kernels/sums/fixed_point_convert.h"
#include "kernels/sums/running_mean_element.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

REKINDLE_CLONES
void MoveMean(const float* __restrict sum, int64_t n, double count, double rate, float* __restrict mean) {
  for (int64_t i = 0; i < n; ++i) mean[i] = MovedMean(mean[i], double{sum[i]}, count, rate);
}

REKINDLE_CLONES
void MoveMean(const int64_t* __restrict sum, double unit, int64_t n, double count, double rate,
              float* __restrict mean) {
  for (int64_t i = 0; i < n; ++i) mean[i] = MovedMean(mean[i], FixedToDouble(sum[i]) * unit, count, rate);
}

}  // namespace rekindle::kernels
