// Says on which device a model computes. This header does not use torch.
#ifndef REKINDLE_WORKER_MODELS_DECLARED_COMPUTE_DEVICE_H_
#define REKINDLE_WORKER_MODELS_DECLARED_COMPUTE_DEVICE_H_

#include "absl/status/status.h"

namespace rekindle::models {

enum class ComputeDevice {
  // With `kCpu` a model computes directly on the weights in host memory.
  kCpu,
  // With `kCuda` a model computes on the process's first GPU, in whose memory the weights are. REQUIRES: LoadCuda() was
  // OK.
  kCuda,
  // With `kCpuLikeGpu` a model computes on the CPU, but leaves its loss where it is computed, as on a GPU. Only tests
  // use it.
  kCpuLikeGpu
};

// Opens LibTorch's CUDA part, which is in the same folder as its CPU part. Floats of 32 bits are multiplied as such,
// not as TF32. If `repeatable` is set, equal inputs give equal bits, and an operation that cannot promise that throws.
// Otherwise LibTorch may use faster operations that add in any order. LoadCuda() may be called again. Returns
// FAILED_PRECONDITION if the CUDA part is missing or finds no GPU, and LibTorch's error if the GPU does not start.
absl::Status LoadCuda(bool repeatable);

// Describes how much memory of the process's GPU is in use, in bytes.
struct GpuMemory {
  double total = 0;
  // `used` counts what all processes use, this one's context included.
  double used = 0;
  // `peak` is the most that the models of this process have reserved at once beside the weights.
  double peak = 0;
};
// REQUIRES: LoadCuda() was OK.
GpuMemory MemoryOfGpu();
// Gives memory that models have freed, and that LibTorch keeps for later, back to the GPU. Does nothing if no model of
// this process has computed on a GPU.
void ReleaseGpuCache();

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_DECLARED_COMPUTE_DEVICE_H_
