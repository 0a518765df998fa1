// Implements stochastic gradient descent with momentum as one pass over weights and momentum. The formulas are those of
// torch.optim.SGD (weight decay is part of the gradient, no dampening), in float32 arithmetic.
//
// All functions are pure and thread-safe, and arrays must not overlap. Element i of the result depends on element i
// alone.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_SGD_H_
#define REKINDLE_KERNELS_OPTIMIZERS_SGD_H_

#include <cstdint>

namespace rekindle::kernels {

struct Sgd {
  float weight_decay = 0;
  float momentum = 0;
  // `step_size` is the learning rate.
  float step_size = 0;
};

// Updates weights and momentum with the gradient g = gradient[i] * scale: velocity = velocity * momentum + (g + weight
// * weight_decay), then weight -= velocity * step_size.
void SgdUpdate(const Sgd& sgd, const float* gradient, float scale, int64_t n, float* weights, float* velocity);
// Updates weights and momentum with a gradient in int64 fixed point, where g = float(double(gradient[i]) * scale).
void SgdUpdate(const Sgd& sgd, const int64_t* gradient, double scale, int64_t n, float* weights, float* velocity);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_SGD_H_
