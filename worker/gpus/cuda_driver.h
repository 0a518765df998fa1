// Asks the CUDA driver which GPUs this process can use. NVML knows more, but a container may have CUDA without NVML.
#ifndef REKINDLE_WORKER_GPUS_CUDA_DRIVER_H_
#define REKINDLE_WORKER_GPUS_CUDA_DRIVER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "worker/gpus/gpu.h"

namespace rekindle::gpus {

// Returns the GPUs that the process may use. The driver itself applies the environment variable CUDA_VISIBLE_DEVICES.
// Returns NOT_FOUND if the machine has no driver or no GPU, and FAILED_PRECONDITION with the driver's words if the
// driver does not work. The call may block for as long as the driver does. It makes no context, so it takes no memory
// of a GPU.
absl::StatusOr<std::vector<Gpu>> AskCudaDriver();

}  // namespace rekindle::gpus

#endif  // REKINDLE_WORKER_GPUS_CUDA_DRIVER_H_
