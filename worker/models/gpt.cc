#include "worker/models/gpt.h"

#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>

#include <algorithm>

#include "worker/models/aten_model.h"
#include "worker/models/autocast.h"
#include "worker/models/decoder.h"
#include "worker/models/fused.h"
#include "worker/models/layout.h"
#include "worker/models/random.h"
#include "worker/models/recompute.h"

namespace rekindle::models {
namespace {

constexpr int kBytes = 256;  // The vocabulary.
constexpr double kEpsilon = 1e-5;
constexpr double kDeviation = 0.02;

// Where dropout is applied; part of the generator's key, so these numbers never change.
constexpr int kEmbedding = 0, kAttention = 1, kMlp = 2;

// As the layout has them, counted from a block's first.
enum BlockParameter { kLn1 = 0, kQkv = 2, kProj = 3, kLn2 = 4, kUp = 6, kDown = 7, kBlockParameters = 8 };
constexpr int kFirstBlock = 2;  // After the two embeddings.

class Gpt : public AtenModel {
 public:
  explicit Gpt(const ModelSpec& spec) : AtenModel(GptLayout(spec), spec.compute), spec_(spec) {}

  void Initialize(uint64_t seed, std::span<float> weights) const override {
    for (const train::ParameterInfo& info : layout().parameters) {
      std::span<float> values = weights.subspan(info.offset, info.size);
      if (info.shape.size() > 1) {
        FillNormal(RandomKeyOf({seed, NameWord(info.name)}), kDeviation, values);
      } else {
        std::fill(values.begin(), values.end(), info.name.ends_with(".weight") ? 1.0f : 0.0f);
      }
    }
  }

 protected:
  absl::Status CheckBatch(const train::MicroBatch& batch) const override {
    return CheckTokens(batch, spec_.context, kBytes);
  }
  int64_t Count(const train::MicroBatch& batch) const override { return int64_t{batch.sequences} * batch.context; }

  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) override {
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

 private:
  at::Tensor Norm(const at::Tensor& h, int first) const {
    return LayerNorm(h, parameter(first), parameter(first + 1), kEpsilon);
  }

  at::Tensor RunBlock(int layer, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const {
    const Autocast autocast(compute());
    const int block = kFirstBlock + layer * kBlockParameters;
    const at::Tensor qkv = at::linear(Norm(input, block + kLn1), parameter(block + kQkv));
    const at::Tensor mixed = at::linear(CausalAttention(qkv, batch, spec_.heads), parameter(block + kProj));
    const at::Tensor h = at::add(input, Drop(mixed, spec_.dropout, batch, key, layer, kAttention));
    const at::Tensor up = Gelu(at::linear(Norm(h, block + kLn2), parameter(block + kUp)));
    return at::add(h, Drop(at::linear(up, parameter(block + kDown)), spec_.dropout, batch, key, layer, kMlp));
  }

  const ModelSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt(const ModelSpec& spec) {
  if (absl::Status status = CheckGptSpec(spec); !status.ok()) return status;
  return std::make_unique<Gpt>(spec);
}

}  // namespace rekindle::models
