// Implements activation checkpointing (Chen et al., 2016). A segment of the forward keeps only its input, and runs
// again when backward reaches it. This costs one more forward of the segment and saves everything that backward would
// have kept of it. Gradients have the same bits, because the forward is repeatable. This header includes ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_RECOMPUTE_H_
#define REKINDLE_WORKER_MODELS_ATEN_RECOMPUTE_H_

#include <ATen/core/Tensor.h>

#include <functional>

namespace rekindle::models {

// Computes a function of its argument and of parameters (leaves) that no other segment uses. It must open its own
// Autocast scope, because backward runs outside of any.
using Segment = std::function<at::Tensor(const at::Tensor& input)>;

// Returns segment(input) for autograd. What `segment` captures lives until backward has passed. REQUIRES: `input`
// requires a gradient, or gradients are off.
at::Tensor Recomputed(const at::Tensor& input, Segment segment);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_RECOMPUTE_H_
