// The kernels of kernels/ as operations of ATen's autograd, where they beat ATen's (docs/benchmarks.md, Kernels). All
// compute in float32 and use ATen's threads; results do not depend on how many those are. Includes ATen.
#ifndef REKINDLE_WORKER_MODELS_FUSED_H_
#define REKINDLE_WORKER_MODELS_FUSED_H_

#include <ATen/core/Tensor.h>

namespace rekindle::models {

// Tanh form, of any shape, in x's type. Keeps its slope for backward (kernels/gelu.h).
at::Tensor Gelu(const at::Tensor& x);

// Of the rows of x {rows, width}; the result is float32. weight, bias: {width}, float32.
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon);

// Sum over rows of the cross-entropy of logits {rows, classes} with targets {rows} (int64, each in [0, classes)); a
// scalar. `logits` must have no other reader: where a gradient is wanted, it takes their place in memory.
at::Tensor SummedCrossEntropy(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_FUSED_H_
