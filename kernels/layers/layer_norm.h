// Computes layer normalisation (Ba et al., 2016) over the rows of a matrix, and its backward pass in one pass over each
// row.
#ifndef REKINDLE_KERNELS_LAYERS_LAYER_NORM_H_
#define REKINDLE_KERNELS_LAYERS_LAYER_NORM_H_

#include <cstdint>

namespace rekindle::kernels {

// Sets y = (x - mean) * inverse * weight + bias with inverse = 1 / sqrt(variance + epsilon). The variance is over
// `width` and biased. x and y are rows x width, weight and bias have `width` elements, and mean and inverse have
// `rows`. y may be x. The bits are the same on every instruction set.
void LayerNormForward(const float* x, int64_t rows, int64_t width, const float* weight, const float* bias,
                      float epsilon, float* y, float* mean, float* inverse);

// Computes the gradients from dy and from the inputs and outputs of the forward pass. dx is rows x width and may be dy.
// dweight and dbias have `width` elements, and they are written, not added to.
void LayerNormBackward(const float* dy, const float* x, const float* mean, const float* inverse, int64_t rows,
                       int64_t width, const float* weight, float* dx, float* dweight, float* dbias);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_LAYERS_LAYER_NORM_H_
