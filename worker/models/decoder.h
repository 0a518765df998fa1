// What the GPTs share: token windows, and causal attention over heads. Includes ATen.
#ifndef REKINDLE_WORKER_MODELS_DECODER_H_
#define REKINDLE_WORKER_MODELS_DECODER_H_

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

// INVALID_ARGUMENT: not whole windows of at most the model's context, or a token that is not below `vocabulary`.
absl::Status CheckTokens(const train::MicroBatch& batch, int context, int vocabulary);

// Each token and the one after it: {sequences x context} of int64.
struct TokenRows {
  at::Tensor inputs, targets;
};
// Precondition: CheckTokens was OK.
TokenRows RowsOf(const train::MicroBatch& batch);

// Token and position embeddings added: {sequences x context, width}.
at::Tensor Embed(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& inputs,
                 const train::MicroBatch& batch);

// Through LibTorch's fused kernel. qkv {rows, 3 x width}: all of q, then k, then v, each split into heads in order.
// Returns {rows, width}.
at::Tensor CausalAttention(const at::Tensor& qkv, const train::MicroBatch& batch, int heads);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECODER_H_
