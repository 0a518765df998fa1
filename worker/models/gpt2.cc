#include "worker/models/gpt2.h"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "worker/models/aten_model.h"
#include "worker/models/autocast.h"
#include "worker/models/layout.h"
#include "worker/models/random.h"
#include "worker/models/recompute.h"

namespace rekindle::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kDeviation = 0.02;

// Where dropout is applied; part of the generator's key, so these numbers never change.
constexpr int kEmbedding = 0, kAttention = 1, kMlp = 2;

// As the layout has them, counted from a block's first.
enum BlockParameter { kLn1 = 0, kAttn = 2, kAttnProj = 4, kLn2 = 6, kFc = 8, kMlpProj = 10, kBlockParameters = 12 };
constexpr int kFirstBlock = 2;  // After the two embeddings.

class Gpt2 : public AtenModel {
 public:
  explicit Gpt2(const ModelSpec& spec) : AtenModel(Gpt2Layout(spec), spec.compute), spec_(spec) {}

  void Initialize(uint64_t seed, std::span<float> weights) const override {
    for (const train::ParameterInfo& info : layout().parameters) {
      std::span<float> values = weights.subspan(info.offset, info.size);
      if (info.shape.size() > 1) {
        const bool residual = info.name.ends_with("c_proj.weight");
        FillNormal(RandomKeyOf({seed, NameWord(info.name)}),
                   residual ? kDeviation / std::sqrt(2.0 * spec_.layers) : kDeviation, values);
      } else {
        const bool norm = info.name.find("ln_") != std::string::npos && info.name.ends_with(".weight");
        std::fill(values.begin(), values.end(), norm ? 1.0f : 0.0f);
      }
    }
  }

 protected:
  absl::Status CheckBatch(const train::MicroBatch& batch) const override;
  int64_t Count(const train::MicroBatch& batch) const override { return int64_t{batch.sequences} * batch.context; }
  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) override;

 private:
  at::Tensor Norm(const at::Tensor& h, int first) const {
    return at::layer_norm(h, {spec_.width}, parameter(first), parameter(first + 1), kEpsilon);
  }
  // Weights are [in, out], as published.
  at::Tensor Project(const at::Tensor& h, int first) const {
    return at::addmm(parameter(first + 1), h, parameter(first));
  }
  at::Tensor Attend(const at::Tensor& h, int block, const train::MicroBatch& batch) const;
  at::Tensor RunBlock(int layer, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const;

  const ModelSpec spec_;
};

absl::Status Gpt2::CheckBatch(const train::MicroBatch& batch) const {
  if (batch.sequences < 1 || batch.context < 1 || batch.context > spec_.context ||
      batch.tokens.size() != static_cast<size_t>(batch.sequences) * (static_cast<size_t>(batch.context) + 1)) {
    return absl::InvalidArgumentError(absl::StrCat("micro-batch ", batch.index, " is malformed: ", batch.sequences,
                                                   " sequences of context ", batch.context, ", ", batch.tokens.size(),
                                                   " tokens; the model's context is ", spec_.context));
  }
  const int highest = *std::max_element(batch.tokens.begin(), batch.tokens.end());
  if (highest < spec_.vocabulary) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("micro-batch ", batch.index, ": token ", highest,
                                                 " is not below model.vocabulary ", spec_.vocabulary));
}

at::Tensor Gpt2::Attend(const at::Tensor& h, int block, const train::MicroBatch& batch) const {
  std::vector<at::Tensor> qkv = Project(h, block + kAttn).split(spec_.width, 1);
  for (at::Tensor& part : qkv) {
    part = part.view({batch.sequences, batch.context, spec_.heads, spec_.width / spec_.heads}).transpose(1, 2);
  }
  at::Tensor mixed = at::scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], std::nullopt, 0.0, /*is_causal=*/true);
  return Project(mixed.transpose(1, 2).reshape({h.size(0), spec_.width}), block + kAttnProj);
}

at::Tensor Gpt2::RunBlock(int layer, const at::Tensor& input, const train::MicroBatch& batch,
                          const train::RandomKey* key) const {
  const Autocast autocast(compute());
  const int block = kFirstBlock + layer * kBlockParameters;
  const at::Tensor mixed = Attend(Norm(input, block + kLn1), block, batch);
  const at::Tensor h = at::add(input, Drop(mixed, spec_.dropout, batch, key, layer, kAttention));
  const at::Tensor mlp = Project(at::gelu(Project(Norm(h, block + kLn2), block + kFc), "tanh"), block + kMlpProj);
  return at::add(h, Drop(mlp, spec_.dropout, batch, key, layer, kMlp));
}

at::Tensor Gpt2::Loss(const train::MicroBatch& batch, const train::RandomKey* key) {
  const int64_t sequences = batch.sequences, context = batch.context, rows = sequences * context;
  at::Tensor inputs = at::empty({rows}, at::kLong), targets = at::empty({rows}, at::kLong);
  int64_t* input = inputs.mutable_data_ptr<int64_t>();
  int64_t* target = targets.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < sequences; ++row) {
    const uint16_t* window = batch.tokens.data() + row * (context + 1);
    input = std::copy(window, window + context, input);
    target = std::copy(window + 1, window + context + 1, target);
  }
  at::Tensor h = at::embedding(parameter(0), inputs).view({sequences, context, spec_.width});
  h = at::add(h, parameter(1).narrow(0, 0, context)).view({rows, spec_.width});
  h = Drop(h, spec_.dropout, batch, key, 0, kEmbedding);
  for (int layer = 0; layer < spec_.layers; ++layer) {
    const auto block = [this, layer, &batch, key](const at::Tensor& x) { return RunBlock(layer, x, batch, key); };
    h = spec_.recompute ? Recomputed(h, block) : block(h);
  }
  const at::Tensor logits = at::linear(Norm(h, kFirstBlock + spec_.layers * kBlockParameters), parameter(0));
  return at::cross_entropy_loss(logits.to(at::kFloat), targets, {}, at::Reduction::Sum);
}

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt2(const ModelSpec& spec) {
  if (absl::Status status = CheckGpt2Spec(spec); !status.ok()) return status;
  return std::make_unique<Gpt2>(spec);
}

}  // namespace rekindle::models
