// Provides the base of models on ATen's autograd. It makes the parameters, which are leaves of autograd over one flat
// memory of weights, and runs forward and backward. Each model adds its layout, its initial values and a function that
// computes the loss. This header includes ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_ATEN_MODEL_H_
#define REKINDLE_WORKER_MODELS_ATEN_ATEN_MODEL_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/table/host_kernels.h"
#include "worker/contract/model_interface.h"
#include "worker/models/aten/autocast.h"
#include "worker/models/declared/model_spec.h"

namespace rekindle::models {

// Returns the tensor `host`, which is in host memory, on `device`. The host does not wait for a copy to a GPU.
at::Tensor Uploaded(const at::Tensor& host, const at::Device& device);

class AtenModel : public train::Model {
 public:
  AtenModel(train::ParameterLayout layout, const ModelSpec& spec)
      : layout_(std::move(layout)),
        compute_(spec.compute),
        device_(spec.device),
        here_(spec.device == ComputeDevice::kCuda ? at::kCUDA : at::kCPU) {}
  AtenModel(const AtenModel&) = delete;
  AtenModel& operator=(const AtenModel&) = delete;

  const train::ParameterLayout& layout() const final { return layout_; }
  void BindWeights(float* weights) final;
  void UseQueue(void* queue, const RekindleKernels& kernels) final;
  absl::StatusOr<train::LossSum> Backward(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale,
                                          const train::GradientSink& sink) final;
  absl::StatusOr<train::LossSum> Evaluate(const train::MicroBatch& batch) final;

 protected:
  // Returns INVALID_ARGUMENT if the micro-batch does not fit the model's shape.
  virtual absl::Status CheckBatch(const train::MicroBatch& batch) const = 0;
  // Returns the summed loss of a checked micro-batch in float32. It is called inside an Autocast scope (autocast.h).
  // `key` is null in an evaluation. In training the function must call TellStatistic for each buffer.
  virtual at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) = 0;
  // Returns the number of items over which the loss of a micro-batch is summed.
  virtual int64_t Count(const train::MicroBatch& batch) const { return batch.sequences; }

  // Returns the Autocast scope that the job's precision needs.
  Autocast MixedPrecision() const { return Autocast(compute_, device_); }
  // Returns parameter or buffer number i of the model's layout.
  const at::Tensor& parameter(int i) const { return parameters_[static_cast<size_t>(i)]; }
  // Returns the tensor `host`, which is in host memory, on the device of the model's parameters, so that operations can
  // combine it with them.
  at::Tensor OnDevice(const at::Tensor& host) const { return Uploaded(host, here_); }
  void TellStatistic(int buffer, at::Tensor statistic) { statistics_.emplace_back(buffer, std::move(statistic)); }
  // Applies dropout, keyed by `key`, to the activations `h` at one place of the model. `drop` is the share of
  // activations that become 0. Returns `h` unchanged if `key` is null or `drop` is 0.
  at::Tensor Drop(const at::Tensor& h, double drop, const train::MicroBatch& batch, const train::RandomKey* key,
                  int layer, int site) const;

 private:
  at::Tensor Forward(const train::MicroBatch& batch, const train::RandomKey* key);
  train::LossSum Pass(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale);
  void Deliver(int parameter, const at::Tensor& values) const;

  const train::ParameterLayout layout_;
  const train::ComputeType compute_;
  const ComputeDevice device_;
  // `here_` is the device's name in LibTorch.
  const at::Device here_;
  void* queue_ = nullptr;
  const RekindleKernels* kernels_ = &kernels::HostKernels();
  // `parameters_` holds views of the weights. They are leaves of autograd, except for buffers.
  std::vector<at::Tensor> parameters_;
  // `loss_` keeps the memory of the loss of the last Backward, which the device may still have to compute.
  at::Tensor loss_;
  // `statistics_` has the statistics of the buffers in the Backward that is running. `sink_` receives the gradients and
  // statistics of that Backward.
  std::vector<std::pair<int, at::Tensor>> statistics_;
  const train::GradientSink* sink_ = nullptr;
};

// Returns a copy of the micro-batch's features with shape {samples, ...}. The copy is in ATen's aligned memory, because
// the alignment may decide which kernels run.
at::Tensor FeaturesOf(const train::MicroBatch& batch, const std::vector<int64_t>& shape);
// Returns the summed cross-entropy of logits {samples, classes}, or with 0 classes the summed squared error of outputs
// {samples, 1}. The loss is computed in float32, whatever the type of the outputs.
at::Tensor TargetLoss(const at::Tensor& outputs, const train::MicroBatch& batch, int classes);
// Returns INVALID_ARGUMENT if a sample of the micro-batch does not have `features` features, or if a target is not a
// class.
absl::Status CheckSamples(const train::MicroBatch& batch, int64_t features, int classes);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_ATEN_MODEL_H_
