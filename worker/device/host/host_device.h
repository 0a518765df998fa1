// The processor as a device: memory is the host's, and each operation runs at once on the thread that queues it. So a
// rank that computes on the processor pays nothing for the interface.
#ifndef REKINDLE_WORKER_DEVICE_HOST_HOST_DEVICE_H_
#define REKINDLE_WORKER_DEVICE_HOST_HOST_DEVICE_H_

#include <memory>

#include "worker/device/contract/device.h"
#include "worker/device/host/shared_memories.h"

namespace rekindle::device {

// Memory is aligned to 64 bytes, and large memory lies in huge pages if the machine has any. If `shares` is not null,
// it makes the memory that other processes may read (AllocateReadable), and has to outlive the device.
std::unique_ptr<Device> MakeHostDevice(SharedMemories* shares = nullptr);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_HOST_HOST_DEVICE_H_
