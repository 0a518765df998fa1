// Implements Lion as one pass over weights and momentum. It is from Chen et al., "Symbolic Discovery of Optimization
// Algorithms", with decoupled weight decay and float32 arithmetic.
//
// All functions are pure and thread-safe, and arrays must not overlap. Element i of the result depends on element i
// alone.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_LION_H_
#define REKINDLE_KERNELS_OPTIMIZERS_LION_H_

#include <cstdint>

#include "kernels/optimizers/lion_factors.h"

struct RekindleUpdate;

namespace rekindle::kernels {

// Computes the factors of the step that an update makes.
Lion LionOf(const RekindleUpdate& update);

// Updates weights and momentum with the gradient g = gradient[i] * scale. The weight moves by step_size against the
// sign of momentum + (g - momentum) * rate1 (by 0 if that sum is 0). Then momentum += (g - momentum) * rate2.
void LionUpdate(const Lion& lion, const float* gradient, float scale, int64_t n, float* weights, float* momentum);
// Updates weights and momentum with a gradient in int64 fixed point, where g = float(double(gradient[i]) * scale).
void LionUpdate(const Lion& lion, const int64_t* gradient, double scale, int64_t n, float* weights, float* momentum);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_LION_H_
