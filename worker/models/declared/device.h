// Says on which device a model computes. This header does not use torch.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_DEVICE_H_
#define REKINDLE_WORKER_MODELS_DECLARED_DEVICE_H_

#include "absl/status/status.h"

namespace rekindle::models {

enum class ComputeDevice {
  // With `kCpu` a model computes directly on the weights in host memory.
  kCpu,
  // With `kCuda` a model computes on the process's first GPU, and weights and gradients are copied. REQUIRES:
  // LoadCuda() was OK.
  kCuda,
  // With `kCpuCopies` a model computes on the CPU but makes the copies that a GPU needs. Only tests of these copies use
  // it.
  kCpuCopies
};

// Opens LibTorch's CUDA part, which is in the same folder as its CPU part, and makes its arithmetic repeatable.
// LoadCuda() may be called again. Returns FAILED_PRECONDITION if the CUDA part is missing or finds no GPU.
absl::Status LoadCuda();

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_DEVICE_H_
