// Holds a model's weights on a device with memory of its own, and its gradients on their way back. This header includes
// ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_DEVICE_COPY_H_
#define REKINDLE_WORKER_MODELS_ATEN_DEVICE_COPY_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "worker/contract/model_interface.h"

namespace rekindle::models {

// The class is thread-compatible. The `layout` must outlive it.
class DeviceCopy {
 public:
  // Allocates the memory. It throws what ATen throws if the device has not enough memory.
  DeviceCopy(const train::ParameterLayout& layout, at::Device device);

  // Returns parameter number i on the device, as a leaf over memory of this object.
  at::Tensor Leaf(int i) const;
  // Copies the weights to the device. `weights` must point to layout.total floats on the host.
  void TakeWeights(const float* weights);

  // Starts to copy a gradient (or statistic) to the host, after the work that was queued on the device before.
  void Fetch(int parameter, const at::Tensor& values);
  // Passes the fetched values to `sink`, in the order of the Fetch calls. REQUIRES: the device has been waited for.
  void Deliver(const train::GradientSink& sink);
  void Forget() { fetched_.clear(); }

 private:
  at::Tensor Staged(int parameter) const;

  const train::ParameterLayout& layout_;
  // `weights_` is on the device.
  at::Tensor weights_;
  // `staging_` is on the host. For a GPU it is pinned, so that copies do not wait.
  at::Tensor staging_;
  // `fetched_` holds the numbers of the fetched parameters.
  std::vector<int> fetched_;
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_DEVICE_COPY_H_
