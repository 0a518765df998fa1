// Computes one element of Lion. The CPU's loop and the CUDA kernel share this arithmetic. This is internal to kernels/.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_LION_ELEMENT_H_
#define REKINDLE_KERNELS_OPTIMIZERS_LION_ELEMENT_H_

#include "kernels/optimizers/element.h"
#include "kernels/optimizers/lion_factors.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// Returns the updated element. `g` is the gradient after clipping and division for the mean. The first moment is the
// momentum.
REKINDLE_INLINE Element UpdateElement(const Lion& l, float g, Element e) {
  const float difference = g - e.first;
  const float direction = e.first + difference * l.rate1;
  const float up = direction > 0 ? l.step_size : 0;
  const float down = direction < 0 ? l.step_size : 0;
  return {e.weight * l.decay - (up - down), e.first + difference * l.rate2, e.second};
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_LION_ELEMENT_H_
