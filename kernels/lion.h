// Lion as one pass over weights and momentum; Chen et al., "Symbolic Discovery of Optimization Algorithms". Decoupled
// weight decay, float32 arithmetic.
//
// Pure and thread-safe; arrays do not overlap. Element i of the result depends on element i alone.
#ifndef REKINDLE_KERNELS_LION_H_
#define REKINDLE_KERNELS_LION_H_

#include <cstdint>

namespace rekindle::kernels {

struct Lion {
  float decay = 1;      // Weights are multiplied by it: 1 - learning_rate * weight_decay.
  float rate1 = 0;      // 1 - beta1: the gradient's part in the direction.
  float rate2 = 0;      // 1 - beta2: its part in the momentum.
  float step_size = 0;  // The learning rate.
};

// Gradient g = gradient[i] * scale: the weight goes by step_size against the sign of momentum + (g - momentum) * rate1
// (0 for 0), then momentum += (g - momentum) * rate2.
void LionUpdate(const Lion& lion, const float* gradient, float scale, int64_t n, float* weights, float* momentum);
// g = float(double(gradient[i]) * scale).
void LionUpdate(const Lion& lion, const int64_t* gradient, double scale, int64_t n, float* weights, float* momentum);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_LION_H_
