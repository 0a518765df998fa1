#include "worker/models/aten/aten_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "absl/strings/str_cat.h"
#include "worker/contract/out_of_memory.h"
#include "worker/models/aten/autocast.h"
#include "worker/models/aten/fused.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

absl::Status Failure(const train::MicroBatch& batch, const std::exception& error) {
  const absl::Status status = train::FromException(error);
  return absl::Status(status.code(), absl::StrCat("micro-batch ", batch.index, ": ", status.message()));
}

}  // namespace

void AtenModel::BindWeights(float* weights) {
  weights_ = weights;
  parameters_.clear();
  copy_.reset();
  if (device_ != ComputeDevice::kCpu) {
    copy_ = std::make_unique<DeviceCopy>(layout_, device_ == ComputeDevice::kCuda ? at::kCUDA : at::kCPU);
  }
  for (int i = 0; i < static_cast<int>(layout_.parameters.size()); ++i) {
    const train::ParameterInfo& info = layout_.parameters[i];
    at::Tensor leaf = copy_ ? copy_->Leaf(i) : at::from_blob(weights + info.offset, info.shape, at::kFloat);
    if (!info.is_buffer()) {
      leaf.set_requires_grad(true);
      // Autograd calls the hook of a parameter once in a backward, with the total gradient, even if the forward uses
      // the parameter twice.
      leaf.register_hook([this, i](const at::Tensor& gradient) { Deliver(i, gradient); });
    }
    parameters_.push_back(std::move(leaf));
  }
  TakeWeights();
}

void AtenModel::TakeWeights() {
  if (copy_) copy_->TakeWeights(weights_);
}

at::Tensor AtenModel::OnDevice(const at::Tensor& host) const {
  return device_ == ComputeDevice::kCuda ? host.to(at::kCUDA) : host;
}

void AtenModel::Deliver(int parameter, const at::Tensor& values) const {
  if (copy_) return copy_->Fetch(parameter, values);
  const at::Tensor dense = values.contiguous();
  (*sink_)(parameter, {dense.const_data_ptr<float>(), static_cast<size_t>(dense.numel())});
}

at::Tensor AtenModel::Drop(const at::Tensor& h, double drop, const train::MicroBatch& batch,
                           const train::RandomKey* key, int layer, int site) const {
  if (key == nullptr || drop == 0) return h;
  at::Tensor mask = at::empty(h.sizes(), at::kFloat);
  FillDropoutMask(RandomKeyOf({key->seed, static_cast<uint64_t>(key->step), static_cast<uint64_t>(batch.index),
                               static_cast<uint64_t>(layer), static_cast<uint64_t>(site)}),
                  drop, {mask.mutable_data_ptr<float>(), static_cast<size_t>(mask.numel())});
  return at::mul(h, OnDevice(mask));
}

at::Tensor AtenModel::Forward(const train::MicroBatch& batch, const train::RandomKey* key) {
  const Autocast autocast = MixedPrecision();
  return Loss(batch, key);
}

absl::StatusOr<train::LossSum> AtenModel::LossOf(const at::Tensor& loss, const train::MicroBatch& batch) const {
  const double sum = loss.item<float>();
  if (std::isfinite(sum)) return train::LossSum{sum, Count(batch)};
  return absl::OutOfRangeError(absl::StrCat("micro-batch ", batch.index, ": the loss is not finite (", sum, ")"));
}

absl::StatusOr<train::LossSum> AtenModel::Backward(const train::MicroBatch& batch, const train::RandomKey& key,
                                                   float loss_scale, const train::GradientSink& sink) {
  if (parameters_.empty()) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  absl::StatusOr<train::LossSum> result;
  try {
    const at::Tensor loss = Forward(batch, &key);
    if (copy_) {
      result = BackwardByCopies(loss, batch, loss_scale, sink);
    } else {
      result = LossOf(loss, batch);
      if (result.ok()) BackwardInPlace(loss, loss_scale, sink);
    }
  } catch (const std::exception& error) {
    result = Failure(batch, error);
  }
  sink_ = nullptr;
  if (copy_) copy_->Forget();
  statistics_.clear();
  // The gradients that ATen keeps are dropped, because the sink has already received them.
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  // The blocks that LibTorch keeps have the sizes of a micro-batch that did not fit, and a smaller one may not fit
  // beside them.
  if (device_ == ComputeDevice::kCuda && absl::IsResourceExhausted(result.status())) ReleaseGpuCache();
  return result;
}

void AtenModel::BackwardInPlace(const at::Tensor& loss, float loss_scale, const train::GradientSink& sink) {
  sink_ = &sink;
  for (const auto& [buffer, statistic] : statistics_) Deliver(buffer, at::mul(statistic, loss_scale));
  loss.backward(at::scalar_tensor(loss_scale));
}

// Computes the gradients on the device. The host waits for the device only once, at the end. By then all gradients are
// on the host. They are delivered only if the loss is finite.
absl::StatusOr<train::LossSum> AtenModel::BackwardByCopies(const at::Tensor& loss, const train::MicroBatch& batch,
                                                           float loss_scale, const train::GradientSink& sink) {
  for (const auto& [buffer, statistic] : statistics_) Deliver(buffer, at::mul(statistic, loss_scale));
  loss.backward(at::scalar_tensor(loss_scale, loss.options()));
  // Reading the loss waits until the device has done everything that was requested before.
  absl::StatusOr<train::LossSum> result = LossOf(loss, batch);
  if (result.ok()) copy_->Deliver(sink);
  return result;
}

absl::StatusOr<train::LossSum> AtenModel::Evaluate(const train::MicroBatch& batch) {
  if (parameters_.empty()) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  try {
    at::NoGradGuard no_grad;
    return LossOf(Forward(batch, nullptr), batch);
  } catch (const std::exception& error) {
    return Failure(batch, error);
  }
}

at::Tensor FeaturesOf(const train::MicroBatch& batch, const std::vector<int64_t>& shape) {
  at::Tensor features = at::empty(shape, at::kFloat);
  std::copy(batch.features.begin(), batch.features.end(), features.mutable_data_ptr<float>());
  return features;
}

at::Tensor TargetLoss(const at::Tensor& outputs, const train::MicroBatch& batch, int classes) {
  const at::Tensor targets =
      at::from_blob(const_cast<float*>(batch.targets.data()), {batch.sequences}, at::kFloat).to(outputs.device());
  const at::Tensor exact = outputs.to(at::kFloat);
  if (classes == 0) return at::mse_loss(exact.view({batch.sequences}), targets, at::Reduction::Sum);
  return SummedCrossEntropy(exact, targets.to(at::kLong));
}

absl::Status CheckSamples(const train::MicroBatch& batch, int64_t features, int classes) {
  const auto samples = static_cast<size_t>(batch.sequences);
  bool fits = batch.sequences >= 1 && batch.targets.size() == samples &&
              batch.features.size() == samples * static_cast<size_t>(features);
  for (float target : batch.targets) fits = fits && (classes == 0 || (target >= 0 && target < 1.0 * classes));
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("micro-batch ", batch.index, " is malformed: ", batch.sequences,
                                                 " samples, ", batch.features.size(), " features, ",
                                                 batch.targets.size(), " targets; the model takes ", features,
                                                 " features a sample and ", classes, " classes"));
}

}  // namespace rekindle::models
