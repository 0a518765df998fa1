// Products of row-major float32 matrices for optimizers that need one. Each element is summed over `inner` in ascending
// order, one rounding an operation, so the bits are the same on every machine; one thread. Arrays do not overlap.
#ifndef REKINDLE_KERNELS_MATMUL_H_
#define REKINDLE_KERNELS_MATMUL_H_

#include <cstdint>

namespace rekindle::kernels {

// c[rows, columns] = a[rows, inner] * b[inner, columns].
void MatMul(const float* a, const float* b, int64_t rows, int64_t inner, int64_t columns, float* c);

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_MATMUL_H_
