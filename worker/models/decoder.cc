#include "worker/models/decoder.h"

#include <ATen/ops/add.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::models {

absl::Status CheckTokens(const train::MicroBatch& batch, int context, int vocabulary) {
  if (batch.sequences < 1 || batch.context < 1 || batch.context > context ||
      batch.tokens.size() != static_cast<size_t>(batch.sequences) * (static_cast<size_t>(batch.context) + 1)) {
    return absl::InvalidArgumentError(absl::StrCat("micro-batch ", batch.index, " is malformed: ", batch.sequences,
                                                   " sequences of context ", batch.context, ", ", batch.tokens.size(),
                                                   " tokens; the model's context is ", context));
  }
  const int highest = *std::max_element(batch.tokens.begin(), batch.tokens.end());
  if (highest < vocabulary) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("micro-batch ", batch.index, ": token ", highest, " is not below model.vocabulary ", vocabulary));
}

TokenRows RowsOf(const train::MicroBatch& batch) {
  const int64_t rows = int64_t{batch.sequences} * batch.context;
  TokenRows out{at::empty({rows}, at::kLong), at::empty({rows}, at::kLong)};
  int64_t* input = out.inputs.mutable_data_ptr<int64_t>();
  int64_t* target = out.targets.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < batch.sequences; ++row) {
    const uint16_t* window = batch.tokens.data() + row * (batch.context + 1);
    input = std::copy(window, window + batch.context, input);
    target = std::copy(window + 1, window + batch.context + 1, target);
  }
  return out;
}

at::Tensor Embed(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& inputs,
                 const train::MicroBatch& batch) {
  const int64_t width = tokens.size(1);
  const at::Tensor h = at::embedding(tokens, inputs).view({batch.sequences, batch.context, width});
  return at::add(h, positions.narrow(0, 0, batch.context)).view({inputs.size(0), width});
}

at::Tensor CausalAttention(const at::Tensor& qkv, const train::MicroBatch& batch, int heads) {
  const int64_t width = qkv.size(1) / 3;
  std::vector<at::Tensor> parts = qkv.split(width, 1);
  for (at::Tensor& part : parts) {
    part = part.view({batch.sequences, batch.context, heads, width / heads}).transpose(1, 2);
  }
  const at::Tensor mixed =
      at::scaled_dot_product_attention(parts[0], parts[1], parts[2], std::nullopt, 0.0, /*is_causal=*/true);
  return mixed.transpose(1, 2).reshape({qkv.size(0), width});
}

}  // namespace rekindle::models
