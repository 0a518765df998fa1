#include "worker/device/contract/device.h"

#include <utility>

namespace rekindle::device {

absl::Status RunAndAwait(Device& device, Queue queue, Operation operation) {
  device.Run(queue, std::move(operation));
  return device.Await(device.Record(queue), nullptr, Place::None());
}

}  // namespace rekindle::device
