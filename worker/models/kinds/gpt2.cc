// Makes GPT-2. Parameters have the names and shapes of Hugging Face's GPT2Model ("h.0.attn.c_attn.weight" [in, out]
// ...), so that published sets of weights can be read and written. Matrices start as normal with standard deviation
// 0.02, but those of c_proj with 0.02 / sqrt(2 layers). Dropout works as in gpt.cc.
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "worker/models/aten/autocast.h"
#include "worker/models/aten/fused.h"
#include "worker/models/kinds/decoder.h"
#include "worker/models/kinds/makers.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

// Numbers the parameters of a GPT-2 block from its first one, in the order of the layout.
enum BlockParameter { kLn1 = 0, kAttn = 2, kAttnProj = 4, kLn2 = 6, kFc = 8, kFcProj = 10, kBlockParameters = 12 };

class Gpt2 : public Decoder {
 public:
  Gpt2(const ModelSpec& spec, train::ParameterLayout layout) : Decoder(std::move(layout), spec, kBlockParameters) {}

  absl::Status Initialize(uint64_t seed, std::span<float> weights) override {
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
    return absl::OkStatus();
  }

 protected:
  at::Tensor RunBlock(int layer, int first, const at::Tensor& input, const train::MicroBatch& batch,
                      const train::RandomKey* key) const override {
    const Autocast autocast = MixedPrecision();
    const at::Tensor qkv = Project(Norm(input, first + kLn1), first + kAttn);
    const at::Tensor mixed = Project(Attend(qkv, batch), first + kAttnProj);
    const at::Tensor h = at::add(input, DropAt(mixed, batch, key, layer, kAttention));
    const at::Tensor fed = Project(Gelu(Project(Norm(h, first + kLn2), first + kFc)), first + kFcProj);
    return at::add(h, DropAt(fed, batch, key, layer, kFeedForward));
  }

 private:
  // Applies a linear layer to `h`. Its weights are [in, out], as GPT-2 was published.
  at::Tensor Project(const at::Tensor& h, int first) const {
    return at::addmm(parameter(first + 1), h, parameter(first));
  }
};

}  // namespace

std::unique_ptr<train::Model> MakeGpt2(const ModelSpec& spec, train::ParameterLayout layout) {
  return std::make_unique<Gpt2>(spec, std::move(layout));
}

}  // namespace rekindle::models
