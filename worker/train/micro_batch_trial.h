// One size of micro-batch, tried out: a few real steps of the job by an engine on its own, of one micro-batch each.
// Runs in a process of its own, because what does not fit may cost the process its life.
#ifndef REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_
#define REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker/train/batch_source.h"
#include "worker/train/engine.h"
#include "worker/train/micro_batch_search.h"
#include "worker/train/model.h"
#include "worker/train/spec.h"

namespace rekindle::train {

// Only a guard for the machine: an allocation far beyond `bytes` fails rather than swaps, and the kernel ends this
// process before any other. What was really used is compared with the limit afterwards.
void GuardMemory(double bytes);

// Of this process, at its peak.
double PeakBytes();

// The seconds of a forward and backward, the fastest of a few. `spec.micro_batch` is the size. RESOURCE_EXHAUSTED:
// memory ran out. Other errors: as Engine::Run.
absl::StatusOr<double> SecondsOfTrial(const TrainSpec& spec, Model& model, BatchSource& batches, Connect connect);

// How a trial tells its outcome to the process that started it.
std::string ToJson(const absl::StatusOr<MicroBatchTrial>& trial);
absl::StatusOr<MicroBatchTrial> TrialFromJson(const std::string& json);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MICRO_BATCH_TRIAL_H_
