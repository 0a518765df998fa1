// Moves running means, such as those of batch normalisation, towards the mean of a step.
//
// The functions are pure and thread-safe, and arrays must not overlap.
#ifndef REKINDLE_KERNELS_SUMS_RUNNING_MEAN_H_
#define REKINDLE_KERNELS_SUMS_RUNNING_MEAN_H_

#include <cstdint>

namespace rekindle::kernels {

// Sets mean[i] += rate * (sum[i] / count - mean[i]), in double. With the rate 1 that is exactly sum[i] / count.
void MoveMean(const float* sum, int64_t n, double count, double rate, float* mean);
// Sets mean[i] += rate * (sum[i] * unit / count - mean[i]), in double. `unit` is a power of two. With the rate 1 that
// is exactly sum[i] * unit / count.
void MoveMean(const int64_t* sum, double unit, int64_t n, double count, double rate, float* mean);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_RUNNING_MEAN_H_
