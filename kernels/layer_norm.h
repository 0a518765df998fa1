// Layer normalisation (Ba et al., 2016) over the rows of a matrix, and its backward in one pass over each row.
#ifndef REKINDLE_KERNELS_LAYER_NORM_H_
#define REKINDLE_KERNELS_LAYER_NORM_H_

#include <cstdint>

namespace rekindle::kernels {

// y = (x - mean) * inverse * weight + bias, inverse = 1 / sqrt(variance + epsilon), variance over `width` (biased).
// x, y: rows x width; weight, bias: width; mean, inverse: rows. y may be x. Same bits on every instruction set.
void LayerNormForward(const float* x, int64_t rows, int64_t width, const float* weight, const float* bias,
                      float epsilon, float* y, float* mean, float* inverse);

// From dy and what forward was given and made: dx (rows x width; may be dy), and dweight, dbias (width), which are
// written, not added to.
void LayerNormBackward(const float* dy, const float* x, const float* mean, const float* inverse, int64_t rows,
                       int64_t width, const float* weight, float* dx, float* dweight, float* dbias);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_LAYER_NORM_H_
