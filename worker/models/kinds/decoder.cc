#include "worker/models/kinds/decoder.h"

#include <ATen/ops/add.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/models/aten/fused.h"
#include "worker/models/aten/recompute.h"

namespace rekindle::models {
namespace {

constexpr double kEpsilon = 1e-5;
// In a decoder's layout the embedding of tokens is parameter number `kTokens`, and that of positions is number
// `kPositions`. The parameters of the first block begin at number `kFirstBlock`.
constexpr int kTokens = 0, kPositions = 1, kFirstBlock = 2;

// Holds each token of the windows and the token after it, as int64 {sequences x context}.
struct TokenRows {
  at::Tensor inputs, targets;
};

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

}  // namespace

absl::Status Decoder::CheckBatch(const train::MicroBatch& batch) const {
  if (batch.sequences < 1 || batch.context < 1 || batch.context > spec_.context ||
      batch.tokens.size() != static_cast<size_t>(batch.sequences) * (static_cast<size_t>(batch.context) + 1)) {
    return absl::InvalidArgumentError(absl::StrCat("micro-batch ", batch.index, " is malformed: ", batch.sequences,
                                                   " sequences of context ", batch.context, ", ", batch.tokens.size(),
                                                   " tokens; the model's context is ", spec_.context));
  }
  const int highest = *std::max_element(batch.tokens.begin(), batch.tokens.end());
  if (highest < vocabulary_) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("micro-batch ", batch.index, ": token ", highest, " is not below model.vocabulary ", vocabulary_));
}

at::Tensor Decoder::Loss(const train::MicroBatch& batch, const train::RandomKey* key) {
  TokenRows rows = RowsOf(batch);
  rows.inputs = OnDevice(rows.inputs);
  rows.targets = OnDevice(rows.targets);
  at::Tensor h = at::embedding(parameter(kTokens), rows.inputs).view({batch.sequences, batch.context, spec_.width});
  h = at::add(h, parameter(kPositions).narrow(0, 0, batch.context)).view({rows.inputs.size(0), spec_.width});
  h = DropAt(h, batch, key, 0, kEmbedding);
  int first = kFirstBlock;
  for (int layer = 0; layer < spec_.layers; ++layer, first += block_parameters_) {
    const auto block = [this, layer, first, &batch, key](const at::Tensor& x) {
      return RunBlock(layer, first, x, batch, key);
    };
    h = spec_.recompute ? Recomputed(h, block) : block(h);
  }
  return SummedCrossEntropy(at::linear(Norm(h, first), parameter(kTokens)), rows.targets);
}

at::Tensor Decoder::Norm(const at::Tensor& h, int first) const {
  return LayerNorm(h, parameter(first), parameter(first + 1), kEpsilon);
}

at::Tensor Decoder::Attend(const at::Tensor& qkv, const train::MicroBatch& batch) const {
  std::vector<at::Tensor> parts = qkv.split(spec_.width, 1);
  for (at::Tensor& part : parts) {
    part = part.view({batch.sequences, batch.context, spec_.heads, spec_.width / spec_.heads}).transpose(1, 2);
  }
  const at::Tensor mixed =
      at::scaled_dot_product_attention(parts[0], parts[1], parts[2], std::nullopt, 0.0, /*is_causal=*/true);
  return mixed.transpose(1, 2).reshape({qkv.size(0), spec_.width});
}

}  // namespace rekindle::models
