// Multiplies row-major float32 matrices for optimizers that need a product. Each element is summed over `inner` in
// ascending order, with one rounding per operation, so the bits are the same on every machine. It uses one thread. The
// arrays must not overlap.
#ifndef REKINDLE_KERNELS_OPTIMIZERS_MATMUL_H_
#define REKINDLE_KERNELS_OPTIMIZERS_MATMUL_H_

#include <cstdint>

namespace rekindle::kernels {

// Sets c[rows, columns] = a[rows, inner] * b[inner, columns].
void MatMul(const float* a, const float* b, int64_t rows, int64_t inner, int64_t columns, float* c);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_OPTIMIZERS_MATMUL_H_
