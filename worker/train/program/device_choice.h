// Makes the device that the agent names, on which a job computes. Ends the process if that device cannot be used.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_DEVICE_CHOICE_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_DEVICE_CHOICE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/contract/device.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/device/host/shared_memories.h"
#include "worker/train/control/report.h"
#include "worker/train/program/planned_fault.h"
#include "worker/train/program/trainer_flags.h"

namespace rekindle::train {

// Holds the device in whose memory the trainer keeps its state, and what its ranks need to exchange by NCCL.
struct TrainerDevice {
  // `fault` is what a test has planned for a fake device. It is null otherwise.
  std::shared_ptr<PlannedFault> fault;
  std::unique_ptr<device::Device> device;
  device::NcclParts nccl;
  // `nccl_bucket_bytes` is what a test has set for a fake device, or 0 (TrainSpec).
  int64_t nccl_bucket_bytes = 0;
  // `described` is what the coordinator is told of a GPU.
  std::optional<ReportedDevice> described;
};

struct DeviceParts {
  // `load_cuda` loads what the program's models need of CUDA, and may be null. `repeatable` asks for operations that
  // always give the same bits.
  std::function<absl::Status(bool repeatable)> load_cuda;
  // `shares` makes the memory of the host that other processes may read. If it is null, there is none.
  device::SharedMemories* shares = nullptr;
};

// Makes the device that `flags.device` names. `exact` says that its results have to be repeatable. If that is a GPU
// that cannot be used, or whose driver does not answer, the process ends as EndWithoutDevice says, with kExitDeviceGone
// and the driver's words. The job must not compute elsewhere then: a machine that costs as much as a GPU would train at
// a hundredth of its speed. A fake device ends the process with a message if its user breaks a rule. Returns
// INVALID_ARGUMENT if a test has planned a fault that does not exist.
absl::StatusOr<TrainerDevice> ChooseDevice(const Flags& flags, bool exact, const DeviceParts& parts);

// Leaves `why` as the trainer's last words, which its agent tells the coordinator.
void LeaveLastWords(const Flags& flags, const std::string& why);

// Leaves `why` as the trainer's last words, and ends the process with the exit code. No destructor runs, because those
// of a driver that has failed may never return.
[[noreturn]] void EndWithoutDevice(const Flags& flags, int exit_code, const std::string& why);
// Ends the process of a trainer whose device has failed: with kExitContextLost if another process may use the device,
// and otherwise with kExitDeviceGone.
[[noreturn]] void EndWithFailedDevice(const Flags& flags, const device::Health& health);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_DEVICE_CHOICE_H_
