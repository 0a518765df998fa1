// Activation checkpointing (Chen et al., 2016): a segment of the forward keeps its input alone, and runs again when
// backward comes to it. Costs one more forward of the segment, saves all that backward would have kept of it. Gradients
// are the same bits, as a forward is. Includes ATen.
#ifndef REKINDLE_WORKER_MODELS_RECOMPUTE_H_
#define REKINDLE_WORKER_MODELS_RECOMPUTE_H_

#include <ATen/core/Tensor.h>

#include <functional>

namespace rekindle::models {

// A function of its argument and of parameters (leaves) that no other segment uses. It opens its own Autocast scope,
// since backward runs outside of any.
using Segment = std::function<at::Tensor(const at::Tensor& input)>;

// segment(input), for autograd. Precondition: `input` requires a gradient, or gradients are off. What `segment`
// captures lives until backward has passed.
at::Tensor Recomputed(const at::Tensor& input, Segment segment);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_RECOMPUTE_H_
