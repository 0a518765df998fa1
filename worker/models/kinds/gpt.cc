// Makes a byte-level GPT, a pre-norm transformer decoder with tied embeddings (Radford et al., 2019), on ATen's
// autograd.
//
//   h = tok[x] + pos[0..T)
//   each block: h += proj(attention(ln1(h))); h += down(gelu(up(ln2(h))))     causal, tanh GELU
//   logits = ln(h) tok^T; loss = summed cross-entropy
//
// Linear layers have no bias. LayerNorms have weight and bias, with eps 1e-5. Dropout, when set, is applied after the
// embedding, after the projection of the attention and after the feed-forward layers. In 16 bits (ModelSpec::compute)
// matrix products and attention are cast (autocast.h), but the residual stream, LayerNorms, softmax and loss stay
// float32.
//
// Parameters are named as PyTorch names them ("tok.weight", "blocks.0.ln1.weight", ...), in the order of registration.
// Matrices start as normal with deviation 0.02, LayerNorm weights as 1 and biases as 0. A batch's context may be
// shorter than the model's.
#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <utility>

#include "worker/models/aten/autocast.h"
#include "worker/models/aten/fused.h"
#include "worker/models/kinds/decoder.h"
#include "worker/models/kinds/makers.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

// Numbers the parameters of a GPT block from its first one, in the order of the layout.
enum BlockParameter { kLn1 = 0, kQkv = 2, kProj = 3, kLn2 = 4, kUp = 6, kDown = 7, kBlockParameters = 8 };

class Gpt : public Decoder {
 public:
  Gpt(const ModelSpec& spec, train::ParameterLayout layout) : Decoder(std::move(layout), spec, kBlockParameters) {}

  absl::Status Initialize(uint64_t seed, std::span<float> weights) override {
    for (const train::ParameterInfo& info : layout().parameters) {
      std::span<float> values = weights.subspan(info.offset, info.size);
      if (info.shape.size() > 1) {
        FillNormal(RandomKeyOf({seed, NameWord(info.name)}), kDeviation, values);
      } else {
        std::fill(values.begin(), values.end(), info.name.ends_with(".weight") ? 1.0f : 0.0f);
      }
    }
    return absl::OkStatus();
  }

 protected:
  at::Tensor RunBlock(int layer, int first, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const override {
    const Autocast autocast = MixedPrecision();
    const at::Tensor qkv = at::linear(Norm(input, first + kLn1), parameter(first + kQkv));
    const at::Tensor mixed = at::linear(Attend(qkv, batch), parameter(first + kProj));
    const at::Tensor h = at::add(input, DropAt(mixed, batch, key, layer, kAttention));
    const at::Tensor up = Gelu(at::linear(Norm(h, first + kLn2), parameter(first + kUp)));
    return at::add(h, DropAt(at::linear(up, parameter(first + kDown)), batch, key, layer, kFeedForward));
  }
};

}  // namespace

std::unique_ptr<train::Model> MakeGpt(const ModelSpec& spec, train::ParameterLayout layout) {
  return std::make_unique<Gpt>(spec, std::move(layout));
}

}  // namespace rekindle::models
