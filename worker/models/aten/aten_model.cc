#include "worker/models/aten/aten_model.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "kernels/layers/dropout_mask.h"
#include "worker/contract/out_of_memory.h"
#include "worker/models/aten/autocast.h"
#include "worker/models/aten/fused.h"
#include "worker/models/aten/on_queue.h"
#include "worker/numeric/random.h"

namespace rekindle::models {
namespace {

// An error of a kernel is cut to so many bytes.
constexpr size_t kErrorBytes = 256;

absl::Status Failure(const train::MicroBatch& batch, const std::exception& error) {
  const absl::Status status = train::FromException(error);
  return absl::Status(status.code(), absl::StrCat("micro-batch ", batch.index, ": ", status.message()));
}

}  // namespace

void AtenModel::BindWeights(float* weights) {
  parameters_.clear();
  for (int i = 0; i < static_cast<int>(layout_.parameters.size()); ++i) {
    const train::ParameterInfo& info = layout_.parameters[i];
    // The parameters are no autograd views of one tensor, because autograd must not notice that the weights are written
    // between steps.
    at::Tensor leaf = at::from_blob(weights + info.offset, info.shape, at::TensorOptions(at::kFloat).device(here_));
    if (!info.is_buffer()) {
      leaf.set_requires_grad(true);
      // Autograd calls the hook of a parameter once in a backward, with the total gradient, even if the forward uses
      // the parameter twice.
      leaf.register_hook([this, i](const at::Tensor& gradient) { Deliver(i, gradient); });
    }
    parameters_.push_back(std::move(leaf));
  }
}

void AtenModel::UseQueue(void* queue, const RekindleKernels& kernels) {
  if (device_ != ComputeDevice::kCuda) return;
  queue_ = queue;
  kernels_ = &kernels;
}

void AtenModel::Deliver(int parameter, const at::Tensor& values) const {
  const at::Tensor dense = values.contiguous();
  (*sink_)(parameter, {dense.const_data_ptr<float>(), static_cast<size_t>(dense.numel())});
}

at::Tensor AtenModel::Drop(const at::Tensor& h, double drop, const train::MicroBatch& batch,
                           const train::RandomKey* key, int layer, int site) const {
  if (key == nullptr || drop == 0) return h;
  const at::Tensor mask = at::empty(h.sizes(), at::TensorOptions(at::kFloat).device(here_));
  const uint64_t stream = RandomKeyOf({key->seed, static_cast<uint64_t>(key->step), static_cast<uint64_t>(batch.index),
                                       static_cast<uint64_t>(layer), static_cast<uint64_t>(site)});
  const RekindleDropoutMask fill =
      kernels::DropoutMaskOf(stream, drop, static_cast<size_t>(mask.numel()), mask.mutable_data_ptr<float>());
  char words[kErrorBytes] = "";
  if (kernels_->dropout_mask(&fill, queue_, words, sizeof words) != 0) throw std::runtime_error(words);
  return at::mul(h, mask);
}

at::Tensor AtenModel::Forward(const train::MicroBatch& batch, const train::RandomKey* key) {
  const Autocast autocast = MixedPrecision();
  return Loss(batch, key);
}

absl::StatusOr<train::LossSum> AtenModel::Backward(const train::MicroBatch& batch, const train::RandomKey& key,
                                                   float loss_scale, const train::GradientSink& sink) {
  if (parameters_.empty()) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  sink_ = &sink;
  absl::StatusOr<train::LossSum> result;
  try {
    const OnQueue on_queue(here_, queue_);
    result = Pass(batch, key, loss_scale);
  } catch (const std::exception& error) {
    result = Failure(batch, error);
  }
  sink_ = nullptr;
  statistics_.clear();
  // The gradients that ATen keeps are dropped, because the sink has already received them.
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  // The blocks that LibTorch keeps have the sizes of a micro-batch that did not fit, and a smaller one may not fit
  // beside them.
  if (device_ == ComputeDevice::kCuda && absl::IsResourceExhausted(result.status())) ReleaseGpuCache();
  return result;
}

train::LossSum AtenModel::Pass(const train::MicroBatch& batch, const train::RandomKey& key, float loss_scale) {
  const at::Tensor loss = Forward(batch, &key);
  for (const auto& [buffer, statistic] : statistics_) Deliver(buffer, at::mul(statistic, loss_scale));
  loss.backward(at::scalar_tensor(loss_scale, loss.options()));
  if (device_ == ComputeDevice::kCpu) return {.sum = loss.item<float>(), .count = Count(batch)};
  // Reading the loss of a GPU here would wait for the whole pass.
  loss_ = loss.detach();
  return {.count = Count(batch), .on_device = loss_.const_data_ptr<float>()};
}

absl::StatusOr<train::LossSum> AtenModel::Evaluate(const train::MicroBatch& batch) {
  if (parameters_.empty()) return absl::FailedPreconditionError("the model has no weights: call BindWeights first");
  if (absl::Status status = CheckBatch(batch); !status.ok()) return status;
  try {
    const at::NoGradGuard no_grad;
    const OnQueue on_queue(here_, queue_);
    return train::LossSum{.sum = Forward(batch, nullptr).item<float>(), .count = Count(batch)};
  } catch (const std::exception& error) {
    return Failure(batch, error);
  }
}

at::Tensor Uploaded(const at::Tensor& host, const at::Device& device) {
  // A copy from memory that is not pinned would wait for all that the device has to do before.
  return device.is_cpu() ? host : host.pin_memory().to(device, /*non_blocking=*/true);
}

at::Tensor FeaturesOf(const train::MicroBatch& batch, const std::vector<int64_t>& shape) {
  at::Tensor features = at::empty(shape, at::kFloat);
  std::copy(batch.features.begin(), batch.features.end(), features.mutable_data_ptr<float>());
  return features;
}

at::Tensor TargetLoss(const at::Tensor& outputs, const train::MicroBatch& batch, int classes) {
  const at::Tensor targets = Uploaded(
      at::from_blob(const_cast<float*>(batch.targets.data()), {batch.sequences}, at::kFloat), outputs.device());
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
