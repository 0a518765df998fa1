// Offers kernels of kernels/ as operations of ATen's autograd, where they are faster than ATen's (docs/benchmarks.md,
// Kernels). All compute in float32 and use ATen's threads. The results do not depend on the number of threads. This
// header includes ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_FUSED_H_
#define REKINDLE_WORKER_MODELS_ATEN_FUSED_H_

#include <ATen/core/Tensor.h>

namespace rekindle::models {

// Computes the tanh form of GELU for any shape, in the type of `x`. The forward keeps the slope of GELU for backward
// (kernels/layers/gelu.h).
at::Tensor Gelu(const at::Tensor& x);

// Normalises the rows of `x` {rows, width}. `weight` and `bias` are {width} in float32, and so is the result.
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon);

// Returns the sum over rows of the cross-entropy of logits {rows, classes} with targets {rows}, as a scalar. The
// targets are int64, each in [0, classes). `logits` must have no other reader, because their gradient, where one is
// needed, overwrites them in memory.
at::Tensor SummedCrossEntropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_FUSED_H_
