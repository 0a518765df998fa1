// Offers a GPU as a device. Nothing here needs CUDA's headers or libraries: the functions come from the plugin.
#ifndef REKINDLE_WORKER_DEVICE_CUDA_CUDA_DEVICE_H_
#define REKINDLE_WORKER_DEVICE_CUDA_CUDA_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/cuda/plugin_api.h"
#include "worker/device/contract/device.h"

namespace rekindle::device {

// Makes the process's first GPU a device, with four queues of its own. Those of the exchange and of NCCL go before the
// others. `api` must outlive the device. Returns FAILED_PRECONDITION with the driver's words if the GPU does not
// answer.
absl::StatusOr<std::unique_ptr<Device>> MakeCudaDevice(const RekindleCudaApi& api);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CUDA_CUDA_DEVICE_H_
