// The weights of a model on a device with memory of its own, and its gradients on their way back. Includes ATen.
#ifndef REKINDLE_WORKER_MODELS_DEVICE_COPY_H_
#define REKINDLE_WORKER_MODELS_DEVICE_COPY_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "worker/train/model.h"

namespace rekindle::models {

// Thread-compatible. `layout` outlives it.
class DeviceCopy {
 public:
  // Allocates; throws what ATen throws where the device lacks the memory.
  DeviceCopy(const train::ParameterLayout& layout, at::Device device);

  // Parameter number i on the device: a leaf over memory of this object.
  at::Tensor Leaf(int i) const;
  // `weights`: layout.total floats on the host.
  void TakeWeights(const float* weights);

  // Starts the copy of a gradient (or statistic) to the host, behind what the device has to do before.
  void Fetch(int parameter, const at::Tensor& values);
  // Gives what was fetched to `sink`, in that order. REQUIRES: the device has been waited for.
  void Deliver(const train::GradientSink& sink);
  void Forget() { fetched_.clear(); }

 private:
  at::Tensor Staged(int parameter) const;

  const train::ParameterLayout& layout_;
  at::Tensor weights_;        // On the device.
  at::Tensor staging_;        // On the host; pinned for a GPU, so that copies do not wait.
  std::vector<int> fetched_;  // Parameters.
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DEVICE_COPY_H_
