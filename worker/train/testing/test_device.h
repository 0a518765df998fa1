// Makes the devices on which tests keep the state.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_TEST_DEVICE_H_
#define REKINDLE_WORKER_TRAIN_TESTING_TEST_DEVICE_H_

#include <memory>
#include <string>

#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange_maker.h"

namespace rekindle::train {

// Makes a host device, or with REKINDLE_TEST_DEVICE=fake or =nccl a fake one that ends the process at its first report.
// `name` decides when the fake device runs what. With REKINDLE_TEST_DEVICE=table it makes the device of a GPU over a
// table whose kernels are the processor's (worker/device/testing/gpu_table_testing.h).
std::unique_ptr<device::Device> MakeTestDevice(const std::string& name);
// Returns whether the device of the tests is that of a GPU, which has only kernels.
bool HasOnlyKernels();
// Returns the fake NCCL with REKINDLE_TEST_DEVICE=nccl, and otherwise none.
device::NcclParts TestNccl();

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TESTING_TEST_DEVICE_H_
