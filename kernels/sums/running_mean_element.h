// Moves one element of a running mean. The CPU's loop and the CUDA kernel share this arithmetic. This is internal to
// kernels/.
#ifndef REKINDLE_KERNELS_SUMS_RUNNING_MEAN_ELEMENT_H_
#define REKINDLE_KERNELS_SUMS_RUNNING_MEAN_ELEMENT_H_

#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// With the rate 1 the old value has no part in the result. It may be so large that the sum would round the new one
// away.
REKINDLE_INLINE float MovedMean(float mean, double sum, double count, double rate) {
  if (rate == 1) return static_cast<float>(sum / count);
  return static_cast<float>(mean + rate * (sum / count - mean));
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_RUNNING_MEAN_ELEMENT_H_
