// What models on ATen's autograd share: parameters as leaves over the flat memory, the passes around a forward. A model
// is its layout, its initial values and one function that makes the loss. The one header here that sees torch.
#ifndef REKINDLE_WORKER_MODELS_ATEN_MODEL_H_
#define REKINDLE_WORKER_MODELS_ATEN_MODEL_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/models/autocast.h"
#include "worker/models/device_copy.h"
#include "worker/models/registry.h"
#include "worker/train/model.h"

namespace rekindle::models {

class AtenModel : public train::Model {
 public:
  AtenModel(train::ParameterLayout layout, const ModelSpec& spec)
      : layout_(std::move(layout)), compute_(spec.compute), device_(spec.device) {}
  AtenModel(const AtenModel&) = delete;
  AtenModel& operator=(const AtenModel&) = delete;

  const train::ParameterLayout& layout() const final { return layout_; }
  void BindWeights(float* weights) final;
  void TakeWeights() final;
  absl::StatusOr<train::LossSum> Backward(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale,
                                          const train::GradientSink& sink) final;
  absl::StatusOr<train::LossSum> Evaluate(const train::MicroBatch& batch) final;

 protected:
  // INVALID_ARGUMENT: `batch` is not of this model's shape.
  virtual absl::Status CheckBatch(const train::MicroBatch& batch) const = 0;
  // The summed loss of a checked batch, in float32; called in an Autocast scope (autocast.h). `key` is null in an
  // evaluation; else TellStatistic is called for each buffer.
  virtual at::Tensor Loss(const train::MicroBatch& batch, const train::RandomKey* key) = 0;
  // What the loss is a sum over.
  virtual int64_t Count(const train::MicroBatch& batch) const { return batch.sequences; }

  // The scope that the job's precision asks for.
  Autocast MixedPrecision() const { return Autocast(compute_, device_); }
  // Parameter or buffer number i of the layout.
  const at::Tensor& parameter(int i) const { return parameters_[static_cast<size_t>(i)]; }
  // What a batch holds, for computing with parameters.
  at::Tensor OnDevice(const at::Tensor& host) const;
  void TellStatistic(int buffer, at::Tensor statistic) { statistics_.emplace_back(buffer, std::move(statistic)); }
  // `h` with dropout at a place of the model, keyed by `key`; as it is where that is null or `drop` 0.
  at::Tensor Drop(const at::Tensor& h, double drop, const train::MicroBatch& batch, const train::RandomKey* key,
                  int layer, int site) const;

 private:
  at::Tensor Forward(const train::MicroBatch& batch, const train::RandomKey* key);
  void BackwardInPlace(const at::Tensor& loss, float loss_scale, const train::GradientSink& sink);
  absl::StatusOr<train::LossSum> BackwardByCopies(const at::Tensor& loss, const train::MicroBatch& batch,
                                                  float loss_scale, const train::GradientSink& sink);
  absl::StatusOr<train::LossSum> LossOf(const at::Tensor& loss, const train::MicroBatch& batch) const;
  void Deliver(int parameter, const at::Tensor& values) const;

  const train::ParameterLayout layout_;
  const train::ComputeType compute_;
  const ComputeDevice device_;
  float* weights_ = nullptr;                            // As bound.
  std::unique_ptr<DeviceCopy> copy_;                    // Null: computes on the weights themselves.
  std::vector<at::Tensor> parameters_;                  // Views of weights or copy; leaves, but for buffers.
  std::vector<std::pair<int, at::Tensor>> statistics_;  // Of the running Backward.
  const train::GradientSink* sink_ = nullptr;           // The same.
};

// A copy of the batch's features, of shape {samples, ...}: in ATen's aligned memory, since alignment may choose
// kernels.
at::Tensor FeaturesOf(const train::MicroBatch& batch, const std::vector<int64_t>& shape);
// Summed cross-entropy of logits {samples, classes}, or with classes 0 the summed squared error of outputs {samples,
// 1}; in float32, whatever the outputs are.
at::Tensor TargetLoss(const at::Tensor& outputs, const train::MicroBatch& batch, int classes);
// INVALID_ARGUMENT: not `features` a sample, or a target that is no class.
absl::Status CheckSamples(const train::MicroBatch& batch, int64_t features, int classes);

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_MODEL_H_
