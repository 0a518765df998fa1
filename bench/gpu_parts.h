// The parts of the GPU check. Each prints its lines (gpu_device.h).
#ifndef REKINDLE_BENCH_GPU_PARTS_H_
#define REKINDLE_BENCH_GPU_PARTS_H_

#include "kernels/cuda/plugin_api.h"

namespace rekindle::gpu {

// Accumulation, norm and optimizer beside the CPU kernels, and how fast they are.
void CheckStepKernels(const RekindleCudaTraining& kernels);
// Layer norm, GELU and cross-entropy.
void CheckModelKernels(const RekindleCudaTraining& kernels);
// All-reduce between the GPUs of this machine through the communicator.
void CheckNccl(const RekindleNcclApi* nccl, int devices);

}  // namespace rekindle::gpu

#endif  // REKINDLE_BENCH_GPU_PARTS_H_
