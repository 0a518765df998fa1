#include "worker/models/gpt.h"

#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>

#include <algorithm>

#include "worker/models/autocast.h"
#include "worker/models/decoder.h"
#include "worker/models/fused.h"
#include "worker/models/layout.h"
#include "worker/models/random.h"

namespace rekindle::models {
namespace {

constexpr int kBytes = 256;  // The vocabulary.

// As the layout has them, counted from a block's first.
enum BlockParameter { kLn1 = 0, kQkv = 2, kProj = 3, kLn2 = 4, kUp = 6, kDown = 7, kBlockParameters = 8 };

class Gpt : public Decoder {
 public:
  explicit Gpt(const ModelSpec& spec) : Decoder(GptLayout(spec), spec, kBytes, kBlockParameters) {}

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
  at::Tensor RunBlock(int layer, int first, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const override {
    const Autocast autocast = MixedPrecision();
    const at::Tensor qkv = at::linear(Norm(input, first + kLn1), parameter(first + kQkv));
    const at::Tensor mixed = at::linear(Attend(qkv, batch), parameter(first + kProj));
    const at::Tensor h = at::add(input, DropAt(mixed, batch, key, layer, kAttention));
    const at::Tensor up = Gelu(at::linear(Norm(h, first + kLn2), parameter(first + kUp)));
    return at::add(h, DropAt(at::linear(up, parameter(first + kDown)), batch, key, layer, kMlp));
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt(const ModelSpec& spec) {
  if (absl::Status status = CheckGptSpec(spec); !status.ok()) return status;
  return std::make_unique<Gpt>(spec);
}

}  // namespace rekindle::models
