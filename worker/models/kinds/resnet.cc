// Makes ResNet-18 and ResNet-50 (He et al., 2016) for colour images of 32 x 32 pixels. The stem is a 3 x 3 convolution
// of stride 1 without pooling, as in that paper's models for CIFAR. The four stages and their blocks are as in the
// paper's models for ImageNet.
//
// Batch norm has eps 1e-5. It uses the statistics of the micro-batch in training and its buffers in an evaluation. The
// buffers move by 0.1 a step towards the mean over the step's micro-batches (of the variance without bias).
//
// Parameters and buffers are named as in torchvision: "layer1.0.conv1.weight", "bn1.running_mean", "fc.bias" ...
// Convolutions start as normal with standard deviation sqrt(2 / (out * kernel)), the last layer with sqrt(1 / in).
#include <ATen/ops/add.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "worker/data/declared/image_record.h"
#include "worker/models/aten/aten_model.h"
#include "worker/models/declared/resnet.h"
#include "worker/models/kinds/makers.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

constexpr double kEpsilon = 1e-5;

// Holds the position of a forward in the layout, which has parameters and buffers in the order in which the forward
// uses them.
struct Walk {
  int parameter = 0;
  int buffer = 0;
  bool training = false;
};

class Resnet : public AtenModel {
 public:
  Resnet(const ModelSpec& spec, train::ParameterLayout parameters, const ResnetShape& shape)
      : AtenModel(std::move(parameters), spec), shape_(shape), classes_(spec.classes) {
    const auto& all = layout().parameters;
    first_buffer_ = static_cast<int>(
        std::find_if(all.begin(), all.end(), [](const auto& info) { return info.is_buffer(); }) - all.begin());
  }

  absl::Status Initialize(uint64_t seed, std::span<float> weights) override {
    for (const train::ParameterInfo& info : layout().parameters) {
      std::span<float> values = weights.subspan(info.offset, info.size);
      if (info.shape.size() > 1) {
        const bool convolution = info.shape.size() == 4;
        const double spread = convolution ? 2.0 * info.shape[1] / info.size : 1.0 / info.shape[1];
        FillNormal(RandomKeyOf({seed, NameWord(info.name)}), std::sqrt(spread), values);
      } else {
        const bool one = (info.name.ends_with(".weight") || info.name.ends_with(".running_var"));
        std::fill(values.begin(), values.end(), one ? 1.0f : 0.0f);
      }
    }
    return absl::OkStatus();
  }

 protected:
  absl::Status CheckBatch(const train::MicroBatch& batch) const override {
    return CheckSamples(batch, data::kImagePixels, classes_);
  }

  at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) override {
    Walk walk{.parameter = 0, .buffer = first_buffer_, .training = key != nullptr};
    at::Tensor h =
        OnDevice(FeaturesOf(batch, {batch.sequences, data::kImagePlanes, data::kImageSide, data::kImageSide}));
    h = at::relu(Convolve(walk, h, 1));
    for (int stage = 0; stage < kResnetStages; ++stage) {
      for (int block = 0; block < shape_.blocks[stage]; ++block) h = Block(walk, h, stage, block);
    }
    h = h.mean({2, 3});
    return TargetLoss(at::linear(h, parameter(walk.parameter), parameter(walk.parameter + 1)), batch, classes_);
  }

 private:
  // Applies a convolution and its batch norm.
  at::Tensor Convolve(Walk& walk, const at::Tensor& x, int64_t stride) {
    const at::Tensor& kernel = parameter(walk.parameter++);
    const int64_t padding = kernel.size(2) / 2;
    const at::Tensor h = at::conv2d(x, kernel, {}, {stride, stride}, {padding, padding});
    const at::Tensor& weight = parameter(walk.parameter++);
    const at::Tensor& bias = parameter(walk.parameter++);
    const int mean = walk.buffer++, variance = walk.buffer++;
    if (!walk.training) {
      return at::batch_norm(h, weight, bias, parameter(mean), parameter(variance), false, 0, kEpsilon, false);
    }
    // With a momentum of 1 batch norm sets its buffers to the micro-batch's own statistics.
    const at::Tensor batch_mean = at::empty_like(parameter(mean)).zero_();
    const at::Tensor batch_variance = at::empty_like(parameter(variance)).zero_();
    at::Tensor out = at::batch_norm(h, weight, bias, batch_mean, batch_variance, true, 1.0, kEpsilon, false);
    TellStatistic(mean, batch_mean);
    TellStatistic(variance, batch_variance);
    return out;
  }

  at::Tensor Block(Walk& walk, const at::Tensor& x, int stage, int block) {
    const int64_t stride = block == 0 && stage > 0 ? 2 : 1;
    at::Tensor h;
    if (shape_.bottleneck) {
      h = at::relu(Convolve(walk, x, 1));
      h = at::relu(Convolve(walk, h, stride));
      h = Convolve(walk, h, 1);
    } else {
      h = at::relu(Convolve(walk, x, stride));
      h = Convolve(walk, h, 1);
    }
    const bool same = stride == 1 && x.size(1) == h.size(1);
    return at::relu(at::add(h, same ? x : Convolve(walk, x, stride)));
  }

  const ResnetShape shape_;
  const int classes_;
  int first_buffer_ = 0;
};

}  // namespace

std::unique_ptr<train::Model> MakeResnet18(const ModelSpec& spec, train::ParameterLayout layout) {
  return std::make_unique<Resnet>(spec, std::move(layout), kResnet18Shape);
}

std::unique_ptr<train::Model> MakeResnet50(const ModelSpec& spec, train::ParameterLayout layout) {
  return std::make_unique<Resnet>(spec, std::move(layout), kResnet50Shape);
}

}  // namespace rekindle::models
