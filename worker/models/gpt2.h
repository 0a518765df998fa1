// GPT-2 (Radford et al., 2019) as it was published: biases everywhere, a vocabulary of token ids, tied output weights.
//
//   h = wte[x] + wpe[0..T)
//   each block: h += c_proj(attention(ln_1(h))); h += c_proj(gelu(c_fc(ln_2(h))))     causal, tanh GELU
//   logits = ln_f(h) wte^T; loss = summed cross-entropy
#ifndef REKINDLE_WORKER_MODELS_GPT2_H_
#define REKINDLE_WORKER_MODELS_GPT2_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

// Parameters have the names and shapes of Hugging Face's GPT2Model ("h.0.attn.c_attn.weight" [in, out] ...), so that
// its sets of weights can be read and written. Matrices start as normal with deviation 0.02, those of c_proj with 0.02
// / sqrt(2 layers). Dropout as in gpt.h. INVALID_ARGUMENT names the field.
absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt2(const ModelSpec& spec);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_GPT2_H_
