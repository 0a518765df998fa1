// Asks the NVIDIA driver which GPUs the machine has, through the driver's management library (NVML).
#ifndef REKINDLE_WORKER_GPUS_NVML_H_
#define REKINDLE_WORKER_GPUS_NVML_H_

#include <vector>

#include "absl/status/statusor.h"
#include "worker/gpus/gpu.h"

namespace rekindle::gpus {

// Returns the GPUs in the driver's order, which is that of `nvidia-smi`. Returns NOT_FOUND if the machine has no NVML
// or its driver is not loaded, and FAILED_PRECONDITION with the driver's words if NVML does not work. A GPU that does
// not answer is in the list with its `problem`. The call may block for as long as the driver does, so a daemon has to
// make it in another process.
absl::StatusOr<std::vector<Gpu>> AskNvml();

}  // namespace rekindle::gpus

#endif  // REKINDLE_WORKER_GPUS_NVML_H_
