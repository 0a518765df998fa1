// Lets the host read and write a device's memory, which takes a copy each time. No step waits for these functions: they
// are for the initial weights, checkpoints and the digest of the final state. `name` is that of the operations that
// they queue (Operation::name).
#ifndef REKINDLE_WORKER_DEVICE_CONTRACT_HOST_ACCESS_H_
#define REKINDLE_WORKER_DEVICE_CONTRACT_HOST_ACCESS_H_

#include <cstddef>
#include <functional>
#include <span>

#include "absl/status/status.h"
#include "worker/device/contract/device.h"

namespace rekindle::device {

// Calls `look` with the bytes of the range, in order and in parts whose sizes are multiples of 8, except for the last
// one. No other queue may change the range meanwhile. Returns the error of the device, or RESOURCE_EXHAUSTED if there
// is no pinned memory for a part.
absl::Status ReadOnHost(Device& device, Queue queue, const char* name, const Range& range,
                        const std::function<void(std::span<const std::byte>)>& look);

// Copies the bytes of the range to `to`, and waits until that is done. REQUIRES: to.size() is the size of the range.
absl::Status ReadToHost(Device& device, Queue queue, const char* name, const Range& range, std::span<std::byte> to);

// Copies the bytes to the range, and waits until that is done. REQUIRES: bytes.size() is the size of the range.
absl::Status WriteFromHost(Device& device, Queue queue, const char* name, std::span<const std::byte> bytes,
                           const Range& range);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CONTRACT_HOST_ACCESS_H_
