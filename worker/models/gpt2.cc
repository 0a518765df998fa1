#include "worker/models/gpt2.h"

#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>

#include <algorithm>
#include <cmath>

#include "worker/models/autocast.h"
#include "worker/models/decoder.h"
#include "worker/models/fused.h"
#include "worker/models/layout.h"
#include "worker/models/random.h"

namespace rekindle::models {
namespace {

// As the layout has them, counted from a block's first.
enum BlockParameter { kLn1 = 0, kAttn = 2, kAttnProj = 4, kLn2 = 6, kFc = 8, kMlpProj = 10, kBlockParameters = 12 };

class Gpt2 : public Decoder {
 public:
  explicit Gpt2(const ModelSpec& spec) : Decoder(Gpt2Layout(spec), spec, spec.vocabulary, kBlockParameters) {}

  void Initialize(uint64_t seed, std::span<float> weights) const override {
    for (const train::ParameterInfo& info : layout().parameters) {
      std::span<float> values = weights.subspan(info.offset, info.size);
      if (info.shape.size() > 1) {
        const bool residual = info.name.ends_with("c_proj.weight");
        FillNormal(RandomKeyOf({seed, NameWord(info.name)}),
                   residual ? kDeviation / std::sqrt(2.0 * spec().layers) : kDeviation, values);
      } else {
        const bool norm = info.name.find("ln_") != std::string::npos && info.name.ends_with(".weight");
        std::fill(values.begin(), values.end(), norm ? 1.0f : 0.0f);
      }
    }
  }

 protected:
  at::Tensor RunBlock(int layer, int first, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const override {
    const Autocast autocast = MixedPrecision();
    const at::Tensor qkv = Project(Norm(input, first + kLn1), first + kAttn);
    const at::Tensor mixed = Project(Attend(qkv, batch), first + kAttnProj);
    const at::Tensor h = at::add(input, DropAt(mixed, batch, key, layer, kAttention));
    const at::Tensor mlp = Project(Gelu(Project(Norm(h, first + kLn2), first + kFc)), first + kMlpProj);
    return at::add(h, DropAt(mlp, batch, key, layer, kMlp));
  }

 private:
  // Weights are [in, out], as published.
  at::Tensor Project(const at::Tensor& h, int first) const {
    return at::addmm(parameter(first + 1), h, parameter(first));
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<train::Model>> MakeGpt2(const ModelSpec& spec) {
  if (absl::Status status = CheckGpt2Spec(spec); !status.ok()) return status;
  return std::make_unique<Gpt2>(spec);
}

}  // namespace rekindle::models
