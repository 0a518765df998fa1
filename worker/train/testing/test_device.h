// Makes the devices on which tests keep the state.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_TEST_DEVICE_H_
#define REKINDLE_WORKER_TRAIN_TESTING_TEST_DEVICE_H_

#include <memory>
#include <string>

#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange_maker.h"

namespace rekindle::train {

// Makes a host device, or with REKINDLE_TEST_DEVICE=fake or =nccl a fake one that ends the process at its first report.
// `name` decides when the fake device runs what.
std::unique_ptr<device::Device> MakeTestDevice(const std::string& name);
// Returns the fake NCCL with REKINDLE_TEST_DEVICE=nccl, and otherwise none.
device::NcclParts TestNccl();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_TEST_DEVICE_H_
