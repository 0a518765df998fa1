// Splits adversarial values into 16-bit planes on the device, merges them again, and compares the results with the
// CPU's, bit by bit. This is part of the plugin's probe.
#ifndef REKINDLE_KERNELS_CUDA_PLANES_PLANE_PROBE_H_
#define REKINDLE_KERNELS_CUDA_PLANES_PLANE_PROBE_H_

#include <cstddef>

namespace rekindle::cuda {

// Runs the probe of the planes on the current device. Returns 0 on success, and otherwise reports the error as
// RekindleCudaApi::probe does.
int ProbePlanes(char* error, std::size_t error_size);

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_PLANES_PLANE_PROBE_H_
