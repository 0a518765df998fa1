// Computes one element of AdamW. The CPU's loop and the CUDA kernel share this arithmetic. This is internal to
// kernels/.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_ADAMW_ELEMENT_H_
#define REKINDLE_KERNELS_OPTIMIZERS_ADAMW_ELEMENT_H_

#include <cmath>

#include "kernels/optimizers/adamw_factors.h"
#include "kernels/optimizers/element.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// Returns the updated element. `g` is the gradient after clipping and division for the mean.
REKINDLE_INLINE Element UpdateElement(const Adamw& a, float g, Element e) {
  const float m = e.first + (g - e.first) * a.rate1;
  const float v = e.second * a.beta2 + g * g * a.rate2;
  return {e.weight * a.decay - a.step_size * m / (std::sqrt(v) * a.correction2 + a.epsilon), m, v};
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_ADAMW_ELEMENT_H_
