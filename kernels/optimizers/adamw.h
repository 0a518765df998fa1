// Implements AdamW (decoupled weight decay, bias correction) as one pass over weights and moments. It is from
// Loshchilov and Hutter, "Decoupled Weight Decay Regularization". The arithmetic is float32, with the formulas of
// torch.optim.AdamW.
//
// All functions are pure and thread-safe, and arrays must not overlap. Element i of the result depends on element i
// alone, so any cut of the arrays gives the same bits.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_ADAMW_H_
#define REKINDLE_KERNELS_OPTIMIZERS_ADAMW_H_

#include <cstdint>

namespace rekindle::kernels {

// Holds what one step needs, computed from the hyper-parameters in double (see MakeAdamw).
struct Adamw {
  // The weights are multiplied by `decay`, which is 1 - learning_rate * weight_decay.
  float decay = 1;
  // `rate1` is 1 - beta1.
  float rate1 = 0;
  float beta2 = 0;
  // `rate2` is 1 - beta2.
  float rate2 = 0;
  // `correction2` is 1 / sqrt(1 - beta2^step).
  float correction2 = 1;
  float epsilon = 0;
  // `step_size` is learning_rate / (1 - beta1^step).
  float step_size = 0;
};

// Computes the factors of a step. `step` counts from 1. Powers are made by multiplication, because libm's pow may
// differ between machines. REQUIRES: beta1 and beta2 are at least 0 and below 1.
Adamw MakeAdamw(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay, int64_t step);

// Updates weights and moments with the gradient g = gradient[i] * scale. Clipping and the mean are in the scale.
void AdamwUpdate(const Adamw& adamw, const float* gradient, float scale, int64_t n, float* weights, float* first_moment,
                 float* second_moment);
// Does the same update from int64 fixed point, without a pass that converts it: g = float(double(gradient[i]) * scale).
void AdamwUpdate(const Adamw& adamw, const int64_t* gradient, double scale, int64_t n, float* weights,
                 float* first_moment, float* second_moment);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_ADAMW_H_
