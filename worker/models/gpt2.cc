#include "worker/models/gpt2.h"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <cmath>

#include "worker/models/aten_model.h"
#include "worker/models/autocast.h"
#include "worker/models/decoder.h"
#include "worker/models/fused.h"
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
  absl::Status CheckBatch(const train::MicroBatch& batch) const override {
    return CheckTokens(batch, spec_.context, spec_.vocabulary);
  }
  int64_t Count(const train::MicroBatch& batch) const override { return int64_t{batch.sequences} * batch.context; }
  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) override;

 private:
  at::Tensor Norm(const at::Tensor& h, int first) const {
    return LayerNorm(h, parameter(first), parameter(first + 1), kEpsilon);
  }
  // Weights are [in, out], as published.
  at::Tensor Project(const at::Tensor& h, int first) const {
    return at::addmm(parameter(first + 1), h, parameter(first));
  }
  at::Tensor RunBlock(int layer, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const;

  const ModelSpec spec_;
};

at::Tensor Gpt2::RunBlock(int layer, const at::Tensor& input, const train::MicroBatch& batch,
                          const train::RandomKey* key) const {
  const Autocast autocast(compute());
  const int block = kFirstBlock + layer * kBlockParameters;
  const at::Tensor qkv = Project(Norm(input, block + kLn1), block + kAttn);
  const at::Tensor mixed = Project(CausalAttention(qkv, batch, spec_.heads), block + kAttnProj);
  const at::Tensor h = at::add(input, Drop(mixed, spec_.dropout, batch, key, layer, kAttention));
  const at::Tensor mlp = Project(Gelu(Project(Norm(h, block + kLn2), block + kFc)), block + kMlpProj);
  return at::add(h, Drop(mlp, spec_.dropout, batch, key, layer, kMlp));
}

at::Tensor Gpt2::Loss(const train::MicroBatch& batch, const train::RandomKey* key) {
  const TokenRows rows = RowsOf(batch);
  at::Tensor h = Embed(parameter(0), parameter(1), rows.inputs, batch);
  h = Drop(h, spec_.dropout, batch, key, 0, kEmbedding);
  for (int layer = 0; layer < spec_.layers; ++layer) {
    const auto block = [this, layer, &batch, key](const at::Tensor& x) { return RunBlock(layer, x, batch, key); };
    h = spec_.recompute ? Recomputed(h, block) : block(h);
  }
  const at::Tensor logits = at::linear(Norm(h, kFirstBlock + spec_.layers * kBlockParameters), parameter(0));
  return SummedCrossEntropy(logits, rows.targets);
}

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt2(const ModelSpec& spec) {
  if (absl::Status status = CheckGpt2Spec(spec); !status.ok()) return status;
  return std::make_unique<Gpt2>(spec);
}

}  // namespace rekindle::models
