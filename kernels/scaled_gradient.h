// How the optimizers' kernels read a gradient: float32, or int64 fixed point without a pass to convert it.
#ifndef REKINDLE_KERNELS_SCALED_GRADIENT_H_
#define REKINDLE_KERNELS_SCALED_GRADIENT_H_

#include <cstdint>

#include "kernels/fixed_point_convert.h"

namespace rekindle::kernels {

REKINDLE_INLINE float Scaled(float gradient, float scale) { return gradient * scale; }
REKINDLE_INLINE float Scaled(int64_t gradient, double scale) {
  return static_cast<float>(FixedToDouble(gradient) * scale);
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_SCALED_GRADIENT_H_
