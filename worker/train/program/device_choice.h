// Makes a job compute on the device that the agent names, and ends the process if that device cannot be used.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_DEVICE_CHOICE_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_DEVICE_CHOICE_H_

#include <memory>

#include "absl/status/status.h"
#include "worker/device/contract/device.h"
#include "worker/train/program/trainer_flags.h"
#include "worker/train/sessions/job_file.h"

namespace rekindle::train {

// Makes the job compute on the device that `flags.device` names. Returns an error, in the driver's words where it has
// any, if that is a GPU that cannot be used. The job then must not compute elsewhere: a machine that costs as much as a
// GPU would train at a hundredth of its speed. If the driver does not answer, the process ends as EndWithoutDevice
// says.
absl::Status ChooseDevice(const Flags& flags, TrainerJob* job);

// Makes the device in whose memory the trainer keeps its state. With a GPU this is still the host, and the model copies
// the weights to the GPU. A fake device ends the process with a message if its user breaks a rule.
std::unique_ptr<device::Device> MakeDevice(const Flags& flags);

// Leaves `why` as the trainer's last words, and ends the process with the exit code kExitDeviceGone. No destructor
// runs, because those of a driver that has failed may never return.
[[noreturn]] void EndWithoutDevice(const Flags& flags, const absl::Status& why);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_DEVICE_CHOICE_H_
