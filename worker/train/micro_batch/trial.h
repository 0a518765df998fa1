// Tries one micro-batch size: an engine of its own makes a few real steps of the job, of one micro-batch each. A trial
// runs in a process of its own, because a size that does not fit may kill the process.
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/device/contract/device.h"
#include "worker/train/engine/engine.h"
#include "worker/train/micro_batch/search.h"

namespace rekindle::train {

// Protects the machine from a trial that may use `bytes` bytes of memory. An allocation far beyond them fails instead
// of swapping, and the kernel kills the trial's process before any other. Whether the trial stayed within `bytes` is
// checked only afterwards, against the memory that was really used.
void GuardMemory(double bytes);
// Makes the kernel kill this process before any other if memory runs out.
void VolunteerToBeKilled();

// Returns the highest memory use of this process so far, in bytes.
double PeakBytes();

// Returns the seconds of the forward and backward of a micro-batch of `spec.micro_batch` samples on `device`: the
// fastest of a few. Returns RESOURCE_EXHAUSTED if memory ran out, and otherwise the errors of Engine::Run.
// `device_failed` is that of the engine's EngineParts.
absl::StatusOr<double> SecondsOfTrial(device::Device& device, const TrainSpec& spec, Model& model, BatchSource& batches,
                                      Connect connect, std::function<void(const device::Health&)> device_failed);

// ToJson and TrialFromJson pass the outcome of a trial from its process to the process that started it.
std::string ToJson(const absl::StatusOr<MicroBatchTrial>& trial);
absl::StatusOr<MicroBatchTrial> TrialFromJson(const std::string& json);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_
