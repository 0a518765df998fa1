// Tries one micro-batch size: an engine of its own makes a few real steps of the job, of one micro-batch each. A trial
// runs in a process of its own, because a size that does not fit may kill the process.
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/contract/batch_source.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/engine/engine.h"
#include "worker/train/micro_batch/search.h"

namespace rekindle::train {

// Protects the machine from a trial. An allocation far beyond `bytes` fails instead of swapping, and the kernel kills
// this process before any other. The exact limit is only checked afterwards, against the memory that was really used.
void GuardMemory(double bytes);

// Returns the memory of this process at its peak, in bytes.
double PeakBytes();

// Returns the seconds of a forward and backward, which is the fastest of a few. `spec.micro_batch` is the size. Returns
// RESOURCE_EXHAUSTED if memory ran out, and otherwise the errors of Engine::Run.
absl::StatusOr<double> SecondsOfTrial(const TrainSpec& spec, Model& model, BatchSource& batches, Connect connect);

// A trial passes its outcome as JSON to the process that started it.
std::string ToJson(const absl::StatusOr<MicroBatchTrial>& trial);
absl::StatusOr<MicroBatchTrial> TrialFromJson(const std::string& json);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_
