// A byte-level GPT: pre-norm transformer decoder with tied embeddings (Radford et al., 2019), on ATen's autograd.
//
//   h = tok[x] + pos[0..T)
//   each block: h += proj(attention(ln1(h))); h += down(gelu(up(ln2(h))))     causal, tanh GELU
//   logits = ln(h) tok^T; loss = summed cross-entropy
//
// Linear layers have no bias; LayerNorms have weight and bias, eps 1e-5. Dropout, when set, after the embedding, the
// attention's projection and the MLP's. In 16 bits (ModelSpec::compute) matrix products and attention are cast
// (autocast.h); the residual stream, LayerNorms, softmax and loss stay float32. Torch-free header.
#ifndef REKINDLE_WORKER_MODELS_GPT_H_
#define REKINDLE_WORKER_MODELS_GPT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

// Parameters are named as PyTorch names them ("tok.weight", "blocks.0.ln1.weight", ...), in the order of registration.
// Matrices start as normal with deviation 0.02, LayerNorm weights as 1 and biases as 0.
// A gradient is the same bits whenever a micro-batch is recomputed, in any process with the same PinnedEnvironment
// and thread count. A batch's context may be shorter than the model's.
// Errors: INVALID_ARGUMENT, naming the field. (Backward and Evaluate: INVALID_ARGUMENT for a malformed batch or a loss
// that is not finite, both with the micro-batch's number; INTERNAL with ATen's message for anything it throws.)
absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_GPT_H_
