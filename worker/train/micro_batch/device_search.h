// Finds a job's micro-batch size on this device. Each size is tried in a process of its own (trial.h).
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_DEVICE_SEARCH_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_DEVICE_SEARCH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/train/micro_batch/search.h"

namespace rekindle::train {

struct DeviceSearchOptions {
  // `command` is the program of a trial with its flags. "--try-micro-batch SIZE --memory BYTES --result FILE" is added
  // to it.
  std::vector<std::string> command;
  std::string result_file;
  int global_batch = 0;
  // `at_most` is the largest micro-batch size that is tried. The value 0 stands for the whole batch.
  int at_most = 0;
  // `memory_bytes` is this trainer's share of its node's memory. With 0 the trainer may use all that is available.
  double memory_bytes = 0;
  // `device_bytes` is this trainer's share of its GPU's memory. If it is not 0, it is what limits the micro-batch size,
  // and not the memory of the host.
  double device_bytes = 0;
  // A micro-batch size whose trial takes longer than `longest_seconds` counts as too large.
  double longest_seconds = 600;
  std::function<bool()> cancelled;
  // `device_failed` is called if a trial ended with kExitDeviceGone or kExitContextLost. It must not return.
  std::function<void(int exit_code)> device_failed;
};

// Searches for the micro-batch size and blocks meanwhile. The calling thread must outlive the call, because the end of
// the thread kills a running trial. Returns CANCELLED if `cancelled` said so, and RESOURCE_EXHAUSTED if not even one
// sample fits. Any other error comes from a trial, and its cause is the job's spec or data.
absl::StatusOr<MicroBatchChoice> SearchMicroBatchOnDevice(const DeviceSearchOptions& options);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_DEVICE_SEARCH_H_
