// Says what an error of CUDA means for the process that gets it.
#ifndef REKINDLE_WORKER_DEVICE_CUDA_CUDA_ERRORS_H_
#define REKINDLE_WORKER_DEVICE_CUDA_CUDA_ERRORS_H_

#include "worker/device/contract/device.h"

namespace rekindle::device {

// Returns whether the error says only that the device has no memory left. The device is then as it was before.
bool IsOutOfDeviceMemory(int code);

// Returns what is left after an error other than a lack of memory. The numbers are those of cudaError_t (CUDA Runtime
// API, "Error handling"). An error that is not known counts as a lost context, because nobody can say which work was
// done.
Health::State StateAfter(int code);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CUDA_CUDA_ERRORS_H_
