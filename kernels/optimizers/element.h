// Holds one element of a parameter and of its moments. This is internal to kernels/.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_ELEMENT_H_
#define REKINDLE_KERNELS_OPTIMIZERS_ELEMENT_H_

namespace rekindle::kernels {

// An optimizer leaves a moment that it does not keep as it is.
struct Element {
  float weight, first, second;
};

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_ELEMENT_H_
