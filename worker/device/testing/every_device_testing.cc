#include "worker/device/testing/every_device_testing.h"

#include "worker/device/fake/fake_device.h"
#include "worker/device/host/host_device.h"

namespace rekindle::device {

std::vector<DeviceKind> EveryDevice() {
  return {{"host", [] { return MakeHostDevice(); }},
          {"fake", []() -> std::unique_ptr<Device> { return MakeFakeDevice({}); }}};
}

}  // namespace rekindle::device
