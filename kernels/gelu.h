// GELU in its tanh form: gelu(x) = x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
// (Hendrycks and Gimpel, 2016). Torch-free.
//
// Forward makes the slope as well, so that backward is one product: ATen computes tanh in both passes, and the two took
// a sixth of the time of a micro-batch. Same bits on every instruction set.
#ifndef REKINDLE_KERNELS_GELU_H_
#define REKINDLE_KERNELS_GELU_H_

#include <cstdint>

namespace rekindle::kernels {

// out[i] = gelu(x[i]), slope[i] = gelu'(x[i]); absolute errors below 1e-6 (1 + |x|) for |x| < 1e30. Where x is NaN or
// infinite so is out: what overflowed before stays visible. No overlaps.
void GeluForward(const float* x, int64_t n, float* out, float* slope);
// dx[i] = dy[i] * slope[i]
void GeluBackward(const float* dy, const float* slope, int64_t n, float* dx);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_GELU_H_
