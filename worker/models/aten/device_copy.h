// Holds a copy of a model's weights on a device that has its own memory, and brings the gradients back to the host.
// This header includes ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_DEVICE_COPY_H_
#define REKINDLE_WORKER_MODELS_ATEN_DEVICE_COPY_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "worker/contract/model_interface.h"

namespace rekindle::models {

// DeviceCopy is thread-compatible. The `layout` of the constructor must outlive the DeviceCopy.
class DeviceCopy {
 public:
  // Allocates memory for the weights on the device. An exception of ATen is passed on if the device has not enough
  // memory.
  DeviceCopy(const train::ParameterLayout& layout, at::Device device);

  // Returns parameter number i on the device, as a leaf of autograd over memory of this DeviceCopy.
  at::Tensor Leaf(int i) const;
  // Copies the weights to the device. `weights` must point to layout.total floats on the host.
  void TakeWeights(const float* weights);

  // Starts to copy a gradient (or statistic) to the host. The device makes the copy after the work that was queued
  // before.
  void Fetch(int parameter, const at::Tensor& values);
  // Passes the values that were copied to the host to `sink`, in the order of the Fetch calls. REQUIRES: the host has
  // waited for the device.
  void Deliver(const train::GradientSink& sink);
  void Forget() { fetched_.clear(); }

 private:
  at::Tensor Staged(int parameter) const;

  const train::ParameterLayout& layout_;
  // `weights_` is memory on the device.
  at::Tensor weights_;
  // `staging_` is memory on the host for the gradients. For a GPU it is pinned, so that copies do not wait.
  at::Tensor staging_;
  // `fetched_` holds the numbers of the parameters whose gradients were fetched.
  std::vector<int> fetched_;
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_DEVICE_COPY_H_
