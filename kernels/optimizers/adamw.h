// Implements AdamW (decoupled weight decay, bias correction) as one pass over weights and moments. It is from
// Loshchilov and Hutter, "Decoupled Weight Decay Regularization". The arithmetic is float32, with the formulas of
// torch.optim.AdamW.
//
// All functions are pure and thread-safe, and arrays must not overlap. Element i of the result depends on element i
// alone, so any cut of the arrays gives the same bits.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_ADAMW_H_
#define REKINDLE_KERNELS_OPTIMIZERS_ADAMW_H_

#include <cstdint>

#include "kernels/optimizers/adamw_factors.h"

struct RekindleUpdate;

namespace rekindle::kernels {

// Computes the factors of an AdamW step. `step` counts from 1. Powers are made by multiplication, because libm's pow
// may differ between machines. REQUIRES: beta1 and beta2 are at least 0 and below 1.
Adamw MakeAdamw(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay, int64_t step);

// Computes the factors of the step that an update makes.
Adamw AdamwOf(const RekindleUpdate& update);

// Updates weights and moments with the gradient g = gradient[i] * scale. The scale includes clipping and the division
// for the mean.
void AdamwUpdate(const Adamw& adamw, const float* gradient, float scale, int64_t n, float* weights, float* first_moment,
                 float* second_moment);
// Updates weights and moments with a gradient in int64 fixed point, without a pass that converts it: g =
// float(double(gradient[i]) * scale).
void AdamwUpdate(const Adamw& adamw, const int64_t* gradient, double scale, int64_t n, float* weights,
                 float* first_moment, float* second_moment);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_ADAMW_H_
