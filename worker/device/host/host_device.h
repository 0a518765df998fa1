// The processor as a device: memory is the host's, and each operation runs at once on the thread that queues it. So a
// rank that computes on the processor pays nothing for the interface.
#ifndef REKINDLE_WORKER_DEVICE_HOST_HOST_DEVICE_H_
#define REKINDLE_WORKER_DEVICE_HOST_HOST_DEVICE_H_

#include <memory>

#include "worker/device/contract/device.h"

namespace rekindle::device {

// Memory is aligned to 64 bytes, and large memory lies in huge pages if the machine has any.
std::unique_ptr<Device> MakeHostDevice();

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_HOST_HOST_DEVICE_H_
