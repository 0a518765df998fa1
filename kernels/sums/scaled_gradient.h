// Reads a gradient for the optimizers' kernels. The gradient is float32, or int64 fixed point without a pass that
// converts it.
#ifndef REKINDLE_KERNELS_SUMS_SCALED_GRADIENT_H_
#define REKINDLE_KERNELS_SUMS_SCALED_GRADIENT_H_

#include <cstdint>

#include "kernels/sums/fixed_point_convert.h"

namespace rekindle::kernels {

REKINDLE_INLINE float Scaled(float gradient, float scale) { return gradient * scale; }
REKINDLE_INLINE float Scaled(int64_t gradient, double scale) {
  return static_cast<float>(FixedToDouble(gradient) * scale);
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SUMS_SCALED_GRADIENT_H_
