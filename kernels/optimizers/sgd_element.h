// Computes one element of stochastic gradient descent. The CPU's loop and the CUDA kernel share this arithmetic. This
// is internal to kernels/.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_SGD_ELEMENT_H_
#define REKINDLE_KERNELS_OPTIMIZERS_SGD_ELEMENT_H_

#include "kernels/optimizers/element.h"
#include "kernels/optimizers/sgd_factors.h"
#include "kernels/vector/clones.h"

namespace rekindle::kernels {

// Returns the updated element. `g` is the gradient after clipping and division for the mean. The first moment is the
// velocity.
REKINDLE_INLINE Element UpdateElement(const Sgd& s, float g, Element e) {
  const float v = e.first * s.momentum + (g + e.weight * s.weight_decay);
  return {e.weight - v * s.step_size, v, e.second};
}

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_SGD_ELEMENT_H_
