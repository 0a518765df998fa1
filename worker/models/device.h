// Where a model computes. Torch-free header.
#ifndef REKINDLE_WORKER_MODELS_DEVICE_H_
#define REKINDLE_WORKER_MODELS_DEVICE_H_

#include "absl/status/status.h"

namespace rekindle::models {

enum class ComputeDevice {
  kCpu,       // On the weights where they lie.
  kCuda,      // On the process's first GPU; weights and gradients are copied. REQUIRES: LoadCuda() was OK.
  kCpuCopies  // On the CPU, by the copies that a GPU needs: for tests of those.
};

// Opens LibTorch's CUDA part, which lies beside its CPU part, and makes its arithmetic repeatable. Idempotent.
// FAILED_PRECONDITION: it is not there, or finds no GPU.
absl::Status LoadCuda();

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DEVICE_H_
