// Stands in for a GPU behind the plugin's table: it does everything at once in the host's memory, notes the calls whose
// order matters, and fails as a test asks. What a real GPU does otherwise is the fake device's matter.
#ifndef REKINDLE_WORKER_DEVICE_TESTING_GPU_TABLE_TESTING_H_
#define REKINDLE_WORKER_DEVICE_TESTING_GPU_TABLE_TESTING_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/contract/device.h"

namespace rekindle::device {

struct GpuTable {
  // `calls` lists the calls that make queues, record marks and wait for them.
  std::vector<std::string> calls;
  // `fail_with` is the error of each call of the function `fail_in`.
  std::string fail_in;
  int fail_with = 0;
  size_t free_bytes = 1 << 20;
  // `queues`, `marks` and `blocks` count what was made and has not been ended or freed.
  int queues = 0, marks = 0, blocks = 0;
  // While `hangs` is set, the GPU passes no mark.
  bool hangs = false;
  // If `is_busy` is set, many threads use the GPU at once for long, and `calls` is not filled.
  bool is_busy = false;
};

// There is one such GPU in a process. A test sets it to GpuTable() first.
GpuTable& TheGpu();

absl::StatusOr<std::unique_ptr<Device>> MakeDeviceOnTheGpu();

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_TESTING_GPU_TABLE_TESTING_H_
