// Moves one element of a running mean. The CPU's loop and the CUDA kernel share this arithmetic. This is internal to
// kernels/.
#ifndef REKINDLE_KERNELS_SUMS_RUNNING_MEAN_ELEMENT_H_
#define REKINDLE_KERNELS_SUMS_RUNNING_MEAN_ELEMENT_H_

#include "kernels/vector/clones.h"

namespace rekindle::kernels {

REKINDLE_INLINE float MovedMean(float mean, double sum, double count, double rate) {
  return static_cast<float>(mean + rate * (sum / count - mean));
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_RUNNING_MEAN_ELEMENT_H_
