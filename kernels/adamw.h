// AdamW (decoupled weight decay, bias correction) as one pass over weights and moments; Loshchilov and Hutter,
// "Decoupled Weight Decay Regularization". Float32 arithmetic, the formulas of torch.optim.AdamW.
//
// Pure and thread-safe; arrays do not overlap. Element i of the result depends on element i alone, so any cut of the
// arrays gives the same bits.
#ifndef REKINDLE_KERNELS_ADAMW_H_
#define REKINDLE_KERNELS_ADAMW_H_

#include <cstdint>

namespace rekindle::kernels {

// What one step needs, folded from the hyper-parameters in double. See MakeAdamw.
struct Adamw {
  float decay = 1;  // Weights are multiplied by it: 1 - learning_rate * weight_decay.
  float rate1 = 0;  // 1 - beta1
  float beta2 = 0;
  float rate2 = 0;        // 1 - beta2
  float correction2 = 1;  // 1 / sqrt(1 - beta2^step)
  float epsilon = 0;
  float step_size = 0;  // learning_rate / (1 - beta1^step)
};

// `step` counts from 1. Powers are made by multiplication: libm's pow may differ between machines.
// Precondition: 0 <= beta1, beta2 < 1.
Adamw MakeAdamw(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay, int64_t step);

// Gradient g = gradient[i] * scale (clipping and the mean are in the scale).
void AdamwUpdate(const Adamw& adamw, const float* gradient, float scale, int64_t n, float* weights, float* first_moment,
                 float* second_moment);
// The same from int64 fixed point, without a pass to convert it: g = float(double(gradient[i]) * scale).
void AdamwUpdate(const Adamw& adamw, const int64_t* gradient, double scale, int64_t n, float* weights,
                 float* first_moment, float* second_moment);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_ADAMW_H_
