// Implements stochastic gradient descent with momentum as one pass over weights and momentum. The formulas are those of
// torch.optim.SGD (weight decay is part of the gradient, no dampening), in float32 arithmetic.
//
// All functions are pure and thread-safe, and arrays must not overlap. Element i of the result depends on element i
// alone.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_SGD_H_
#define REKINDLE_KERNELS_OPTIMIZERS_SGD_H_

#include <cstdint>

#include "kernels/optimizers/sgd_factors.h"

struct RekindleUpdate;

namespace rekindle::kernels {

// Computes the factors of the step that an update makes.
Sgd SgdOf(const RekindleUpdate& update);

// Updates weights and momentum with the gradient g = gradient[i] * scale: velocity = velocity * momentum + (g + weight
// * weight_decay), then weight -= velocity * step_size.
void SgdUpdate(const Sgd& sgd, const float* gradient, float scale, int64_t n, float* weights, float* velocity);
// Updates weights and momentum with a gradient in int64 fixed point, where g = float(double(gradient[i]) * scale).
void SgdUpdate(const Sgd& sgd, const int64_t* gradient, double scale, int64_t n, float* weights, float* velocity);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_SGD_H_
