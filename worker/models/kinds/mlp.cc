// Makes a multi-layer perceptron on rows of numbers, which predicts classes or one number.
//
//   h = x; each hidden layer: h = dropout(relu(W h + b)); outputs = W h + b
//
// The loss is the summed cross-entropy over `classes`, or with 0 classes the summed squared error of one output.
// Parameters are named as PyTorch names those of a ModuleList `layers` of Linear: "layers.0.weight" [out, in],
// "layers.0.bias". Matrices start as normal with standard deviation sqrt(2 / in) (He et al., 2015), biases as 0.
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "worker/models/aten/aten_model.h"
#include "worker/models/kinds/makers.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

class Mlp : public AtenModel {
 public:
  Mlp(const ModelSpec& spec, train::ParameterLayout layout) : AtenModel(std::move(layout), spec), spec_(spec) {}

  absl::Status Initialize(uint64_t seed, std::span<float> weights) override {
    for (const train::ParameterInfo& info : layout().parameters) {
      std::span<float> values = weights.subspan(info.offset, info.size);
      if (info.shape.size() > 1) {
        FillNormal(RandomKeyOf({seed, NameWord(info.name)}), std::sqrt(2.0 / static_cast<double>(info.shape[1])),
                   values);
      } else {
        std::fill(values.begin(), values.end(), 0.0f);
      }
    }
    return absl::OkStatus();
  }

 protected:
  absl::Status CheckBatch(const train::MicroBatch& batch) const override {
    return CheckSamples(batch, spec_.inputs, spec_.classes);
  }

  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) override {
    at::Tensor h = OnDevice(FeaturesOf(batch, {batch.sequences, spec_.inputs}));
    for (int layer = 0; layer < spec_.layers; ++layer) {
      h = at::relu(at::linear(h, parameter(2 * layer), parameter(2 * layer + 1)));
      h = Drop(h, spec_.dropout, batch, key, layer, 0);
    }
    return TargetLoss(at::linear(h, parameter(2 * spec_.layers), parameter(2 * spec_.layers + 1)), batch,
                      spec_.classes);
  }

 private:
  const ModelSpec spec_;
};

}  // namespace

std::unique_ptr<train::Model> MakeMlp(const ModelSpec& spec, train::ParameterLayout layout) {
  return std::make_unique<Mlp>(spec, std::move(layout));
}

}  // namespace rekindle::models
