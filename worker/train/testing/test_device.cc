#include "worker/train/testing/test_device.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/digest/hash.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/device/fake/fake_device.h"
#include "worker/device/host/host_device.h"
#include "worker/device/testing/gpu_table_testing.h"

namespace rekindle::train {

namespace {

std::string_view KindOfDevice() {
  const char* kind = std::getenv("REKINDLE_TEST_DEVICE");
  return kind == nullptr ? "" : kind;
}

}  // namespace

std::unique_ptr<device::Device> MakeTestDevice(const std::string& name) {
  if (KindOfDevice() == "table") {
    device::TheGpu().is_busy = true;
    device::TheGpu().free_bytes = size_t{1} << 40;
    return *device::MakeDeviceOnTheGpu();
  }
  if (KindOfDevice() != "fake" && KindOfDevice() != "nccl") return device::MakeHostDevice();
  return device::MakeFakeDevice(
      {.seed = common::Xxh3_64(name.data(), name.size()), .on_report = [](const std::string& report) {
         std::fprintf(stderr, "%s\n", report.c_str());
         std::abort();
       }});
}

bool HasOnlyKernels() { return KindOfDevice() == "table"; }

device::NcclParts TestNccl() {
  return KindOfDevice() == "nccl" ? device::NcclParts{.api = &comm::FakeNccl()} : device::NcclParts{};
}

}  // namespace rekindle::train
