#include "worker/models/aten/device_copy.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cstddef>

namespace rekindle::models {

DeviceCopy::DeviceCopy(const train::ParameterLayout& layout, at::Device device)
    : layout_(layout),
      weights_(at::empty({layout.total}, at::TensorOptions(at::kFloat).device(device))),
      staging_(at::empty({layout.total}, at::TensorOptions(at::kFloat).pinned_memory(device.is_cuda()))) {}

at::Tensor DeviceCopy::Leaf(int i) const {
  const train::ParameterInfo& info = layout_.parameters[static_cast<size_t>(i)];
  // The tensor of a parameter is not an autograd view of `weights_`, the weights on the device, because autograd must
  // not notice that `weights_` is overwritten between steps.
  return at::from_blob(weights_.mutable_data_ptr<float>() + info.offset, info.shape, weights_.options());
}

void DeviceCopy::TakeWeights(const float* weights) {
  const at::NoGradGuard no_grad;
  weights_.copy_(at::from_blob(const_cast<float*>(weights), {layout_.total}, at::kFloat));
}

at::Tensor DeviceCopy::Staged(int parameter) const {
  const train::ParameterInfo& info = layout_.parameters[static_cast<size_t>(parameter)];
  return staging_.narrow(0, info.offset, info.size);
}

void DeviceCopy::Fetch(int parameter, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  Staged(parameter).copy_(values.reshape({-1}), /*non_blocking=*/true);
  fetched_.push_back(parameter);
}

void DeviceCopy::Deliver(const train::GradientSink& sink) {
  for (const int parameter : fetched_) {
    const at::Tensor values = Staged(parameter);
    sink(parameter, {values.const_data_ptr<float>(), static_cast<size_t>(values.numel())});
  }
  fetched_.clear();
}

}  // namespace rekindle::models
