// Implements activation checkpointing (Chen et al., 2016). A segment of the forward keeps only its input, and runs
// again when backward reaches it. That costs one more forward of the segment and saves the memory of its activations.
// Gradients have the same bits as without checkpointing, because the forward is repeatable. This header includes ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_RECOMPUTE_H_
#define REKINDLE_WORKER_MODELS_ATEN_RECOMPUTE_H_

#include <ATen/core/Tensor.h>

#include <functional>

namespace rekindle::models {

// A Segment is a part of a model's forward: a function of its argument and of parameters (leaves) that no other segment
// uses. A segment must open its own Autocast scope, because backward runs outside of any such scope.
using Segment = std::function<at::Tensor(const at::Tensor& input)>;

// Returns segment(input) for autograd. What `segment` captures is kept until backward has passed. REQUIRES: `input`
// requires a gradient, or gradients are off.
at::Tensor Recomputed(const at::Tensor& input, Segment segment);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_RECOMPUTE_H_
