// Declares the parts of the GPU check. Each prints lines in the format of gpu_device.h.
#ifndef REKINDLE_BENCH_GPU_GPU_PARTS_H_
#define REKINDLE_BENCH_GPU_GPU_PARTS_H_

#include "kernels/cuda/plugin_api.h"

namespace rekindle::gpu {

// Compares the kernels of a step with those of the processor, and measures how fast they are.
void CheckStepKernels(const RekindleKernels& kernels);
// Compares layer norm, GELU and cross-entropy with the CPU kernels, and measures how fast they are.
void CheckModelKernels(const RekindleLayers& layers);
// Runs an all-reduce between the GPUs of this machine by NCCL.
void CheckNccl(const RekindleNcclApi* nccl, int devices);

}  // namespace rekindle::gpu

#endif  // REKINDLE_BENCH_GPU_GPU_PARTS_H_
