// Lists the devices that have to keep the contract, so that one test runs over all of them.
#ifndef REKINDLE_WORKER_DEVICE_TESTING_EVERY_DEVICE_TESTING_H_
#define REKINDLE_WORKER_DEVICE_TESTING_EVERY_DEVICE_TESTING_H_

#include <memory>
#include <vector>

#include "worker/device/contract/device.h"

namespace rekindle::device {

struct DeviceKind {
  const char* name;
  std::unique_ptr<Device> (*make)();
};

// Returns the devices that run everywhere. The first one is the host, with whose bits the others are compared.
std::vector<DeviceKind> EveryDevice();

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_TESTING_EVERY_DEVICE_TESTING_H_
