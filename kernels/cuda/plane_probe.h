// Splits and merges adversarial values on the device and compares with the CPU, bit by bit. Part of the plugin's probe.
#ifndef REKINDLE_KERNELS_CUDA_PLANE_PROBE_H_
#define REKINDLE_KERNELS_CUDA_PLANE_PROBE_H_

#include <cstddef>

namespace rekindle::cuda {

// As RekindleCudaApi::probe.
int ProbePlanes(char* error, std::size_t error_size);

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_PLANE_PROBE_H_
