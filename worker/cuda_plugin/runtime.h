// Holds the functions of the CUDA runtime that the plugin offers for a device. This is internal to the plugin.
#ifndef REKINDLE_WORKER_CUDA_PLUGIN_RUNTIME_H_
#define REKINDLE_WORKER_CUDA_PLUGIN_RUNTIME_H_

#include "kernels/cuda/device_api.h"

namespace rekindle::cuda {

// `kDevice` is the part of the plugin's table that a device is made of.
extern const RekindleCudaDevice kDevice;

}  // namespace rekindle::cuda

#endif  // REKINDLE_WORKER_CUDA_PLUGIN_RUNTIME_H_
